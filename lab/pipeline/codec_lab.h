// The lab's ladders of codecs: checks the results of every variant over a group of images, then times it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lab/pipeline/codec_host.h"
#include "lab/pipeline/codec_subject.h"
#include "lab/pipeline/lab.h"

namespace imgpipe {

// All variants of one codec's work, from the naive one to the product's.
struct CodecLadder {
  std::string_view stage;  // the value of --stage, shared by several ladders
  CodecWork work;
  std::string_view name;  // for display: "jpeg, entropy decoding"
  std::span<const CodecVariant> variants;
};
[[nodiscard]] std::span<const CodecLadder> codec_ladder_table();
[[nodiscard]] bool is_codec_stage(std::string_view stage);

// Returns the entropy-coded bytes per image that a variant reads or writes: a JPEG's scan, or all strips.
[[nodiscard]] std::size_t coded_bytes(const CodecVariant& variant, CodecWork work,
                                      const CodecSubject& subject);

// Returns why a variant cannot take the subject, or "".
[[nodiscard]] std::string unmet_requirement(const CodecVariant& variant, CodecWork work,
                                            const CodecSubject& subject);

// Compares the result for one image with the expected one. Returns the difference, or "" if the result is
// right; `said` then describes it ("exact", or how near it is).
[[nodiscard]] std::string codec_difference(const CodecVariant& variant, CodecWork work,
                                           const CodecSubject& subject, const CodecOutput& answer,
                                           std::string& said);

// Runs variants over a group. Must be used by a single thread.
class CodecLab {
 public:
  virtual ~CodecLab() = default;
  CodecLab(const CodecLab&) = delete;
  CodecLab& operator=(const CodecLab&) = delete;

  void load(CodecGroup group) {
    group_ = std::move(group);
    prepare();
  }
  // Checks and times a variant. Throws Error(device) if the device fails, or Error(memory).
  [[nodiscard]] LabResult run(const CodecVariant& variant, CodecWork work, const LabOptions& options);

 protected:
  CodecLab() = default;
  [[nodiscard]] const CodecGroup& group() const { return group_; }
  virtual void prepare() {}
  // Prepares the variant; returns why it cannot run here, or "".
  [[nodiscard]] virtual std::string begin(const CodecVariant& variant, CodecWork work) = 0;
  // Runs once; on a device, into outputs filled with garbage.
  virtual void run_once() = 0;
  [[nodiscard]] virtual CodecOutput answer(std::size_t image) = 0;
  [[nodiscard]] virtual std::vector<double> time_us(const LabOptions& options) = 0;
  [[nodiscard]] virtual std::string grid_text() const = 0;
  // Releases what begin() acquired.
  virtual void end() = 0;

 private:
  // Runs once and checks every image.
  [[nodiscard]] Verification check(const CodecVariant& variant, CodecWork work);

  CodecGroup group_;
};

// Runs host variants, on `threads` threads.
[[nodiscard]] std::unique_ptr<CodecLab> make_host_codec_lab(int threads);
// Runs CUDA variants on device `index`, with `threads` host threads for host work. Throws Error(device).
[[nodiscard]] std::unique_ptr<CodecLab> make_cuda_codec_lab(int index, int threads);

}  // namespace imgpipe

// The lab's ladders of codecs: every rung over a group of images, first held against the right answers, then
// timed.
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

// Every way to do one codec's work, the naive one to what the product runs.
struct CodecLadder {
  std::string_view stage;  // what --stage calls it: several ladders have one name
  CodecWork work;
  std::string_view name;  // what people see: "jpeg, entropy decoding"
  std::span<const CodecRung> rungs;
};
[[nodiscard]] std::span<const CodecLadder> codec_ladder_table();
[[nodiscard]] bool is_codec_stage(std::string_view stage);

// Bytes of entropy-coded data that a rung reads or writes, of one image: a JPEG file, a scan, all strips.
[[nodiscard]] std::size_t coded_bytes(const CodecRung& rung, CodecWork work, const CodecSubject& subject);

// Why a rung cannot take the subject; "" when it can.
[[nodiscard]] std::string unmet_need(const CodecRung& rung, CodecWork work, const CodecSubject& subject);

// Holds the answer for one image against the right one. "" when it is right; else what is wrong. Of
// Claim::near, and of what else there is to be said of a right one, `said` has the text.
[[nodiscard]] std::string codec_difference(const CodecRung& rung, CodecWork work, const CodecSubject& subject,
                                           const CodecAnswer& answer, std::string& said);

// Something that runs rungs over a group. One thread uses it.
class CodecLab {
 public:
  virtual ~CodecLab() = default;
  CodecLab(const CodecLab&) = delete;
  CodecLab& operator=(const CodecLab&) = delete;

  void load(CodecGroup group) {
    group_ = std::move(group);
    prepare();
  }
  // Checks and times a rung. Throws Error(device) when the device breaks, Error(memory).
  [[nodiscard]] LabResult run(const CodecRung& rung, CodecWork work, const LabOptions& options);

 protected:
  CodecLab() = default;
  [[nodiscard]] const CodecGroup& group() const { return group_; }
  virtual void prepare() {}
  // Makes the rung ready; why it cannot run here, or "".
  [[nodiscard]] virtual std::string begin(const CodecRung& rung, CodecWork work) = 0;
  // From outputs that held rubbish: one run.
  virtual void run_once() = 0;
  [[nodiscard]] virtual CodecAnswer answer(std::size_t image) = 0;
  [[nodiscard]] virtual std::vector<double> time_us(const LabOptions& options) = 0;
  [[nodiscard]] virtual std::string grid_text() const = 0;
  // Gives back what begin() took.
  virtual void end() = 0;

 private:
  // One run, of which every image is held against the right one.
  [[nodiscard]] Verification check(const CodecRung& rung, CodecWork work);

  CodecGroup group_;
};

// Rungs of the host, on `threads` threads of its own.
[[nodiscard]] std::unique_ptr<CodecLab> make_host_codec_lab(int threads);
// Rungs of CUDA device `index`; what a rung does on the host takes `threads` threads. Throws Error(device).
[[nodiscard]] std::unique_ptr<CodecLab> make_cuda_codec_lab(int index, int threads);

}  // namespace imgpipe

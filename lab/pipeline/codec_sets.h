// Groups of the codecs' ladders in device memory. Only for CUDA builds.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "lab/kernels/codec_variant.h"
#include "lab/pipeline/codec_subject.h"
#include "lab/pipeline/staged_copy.h"
#include "lab/pipeline/timed_device.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {

inline constexpr std::size_t kCodecAlignment = 256;  // of each part of a group in device memory

// A group in device memory, ready to launch.
struct CodecSet {
  struct Part {  // one half of decoding, or the whole variant
    std::unique_ptr<CodecRun> run;
    DeviceBuffer memory;

    void make(std::unique_ptr<CodecRun> made) {
      run = std::move(made);
      memory.reserve(run->memory().bytes);
    }
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory.data()); }
  };
  DeviceBuffer positions;
  std::vector<CodecTask> tasks;
  Part first, second;
};

// Copies of one group for one variant, with only the memory that the variant needs.
class CodecSets {
 public:
  // The arguments must outlive it. Throws Error(input) for a scan that cannot be staged.
  CodecSets(const CodecGroup& group, const CodecVariant& variant, CodecWork work, const TimedDevice& device);

  // Throws Error(memory).
  void add();
  [[nodiscard]] std::size_t count() const { return sets_.size(); }
  [[nodiscard]] CodecSet& operator[](std::size_t i) const { return *sets_[i]; }
  // Returns the size of the first set.
  [[nodiscard]] std::size_t bytes() const;
  // Fills the variant's outputs with garbage.
  void spoil(const CodecSet& set) const;

  [[nodiscard]] bool takes_stream() const { return staged_.has_value(); }
  [[nodiscard]] bool gives_pixels() const {
    return work_ == CodecWork::reconstruction || work_ == CodecWork::decoding;
  }
  // Requires takes_stream().
  [[nodiscard]] const StagedScan& staged() const { return staged_->scan(); }

 private:
  [[nodiscard]] const CodecSubject& subject() const { return *group_.subject; }
  [[nodiscard]] const Image& picture() const { return subject().picture(variant_.pixels); }
  [[nodiscard]] bool has_coefficients() const;
  void position();
  [[nodiscard]] CodecTask task_at(std::byte* base) const;
  void fill(const CodecSet& set) const;

  const CodecGroup& group_;
  const CodecVariant& variant_;
  CodecWork work_;
  const TimedDevice& device_;
  std::optional<StagedCopy> staged_;
  // Offsets of an image's parts after the staged bytes. Unneeded parts take no space.
  struct {
    std::size_t coefficients = 0, plane = 0, counts = 0, all = 0;
  } positions_;
  std::vector<std::unique_ptr<CodecSet>> sets_;
};

}  // namespace imgpipe

// JPEG decoding on a CUDA device as first attempts have it, with the members of the production classes
// (kernels/jpeg/): right, and slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/jpeg/entropy_decoding.h"
#include "kernels/jpeg/reconstruction.h"

namespace imgpipe {

// A thread a restart segment; without restarts a thread an image.
class NaiveEntropyDecoding {
 public:
  explicit NaiveEntropyDecoding(std::vector<EntropyTask> tasks);
  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] bool in_order(std::size_t image, const std::byte* results) const;

 private:
  std::vector<EntropyTask> tasks_;
  std::size_t segments_ = 0;  // of all images
  GroupMemory memory_;
};

// A thread a subsequence of 1,024 bits: from a guess, then again and again from where the one before ended,
// all of them in each launch, until nothing can change.
class SubsequenceEntropyDecoding {
 public:
  explicit SubsequenceEntropyDecoding(std::vector<EntropyTask> tasks);
  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] bool in_order(std::size_t image, const std::byte* results) const;

 private:
  std::vector<EntropyTask> tasks_;
  std::size_t subsequences_ = 0;  // of all images
  GroupMemory memory_;
};

// A thread a block, then a thread a pixel; `pixels` only.
class NaiveReconstruction {
 public:
  explicit NaiveReconstruction(std::vector<ReconstructionTask> tasks);
  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

 private:
  std::vector<ReconstructionTask> tasks_;
  std::int64_t most_blocks_ = 0, most_pixels_ = 0;  // of an image
  GroupMemory memory_;
};

}  // namespace imgpipe

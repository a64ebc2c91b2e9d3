// Codecs on a CUDA device as first attempts have them, with the members of the production classes
// (kernels/jpeg/, kernels/png/): right, and slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/group_memory.h"
#include "kernels/jpeg/encoding.h"
#include "kernels/jpeg/entropy_decoding.h"
#include "kernels/jpeg/reconstruction.h"
#include "kernels/png/encoding.h"

namespace imgpipe {

inline constexpr std::size_t kPartBoundary = 256;  // where each part of a group's memory begins
[[nodiscard]] constexpr std::size_t rounded_part(std::size_t bytes) {
  return (bytes + kPartBoundary - 1) / kPartBoundary * kPartBoundary;
}

template <class Task>
class NaiveGroup {
 public:
  [[nodiscard]] const GroupMemory& memory() const { return memory_; }

 protected:
  explicit NaiveGroup(std::vector<Task> tasks) : tasks_(std::move(tasks)) {}
  std::vector<Task> tasks_;
  GroupMemory memory_;
};

// A thread a restart segment; without restarts a thread an image.
class NaiveEntropyDecoding : public NaiveGroup<EntropyTask> {
 public:
  explicit NaiveEntropyDecoding(std::vector<EntropyTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] bool in_order(std::size_t image, const std::byte* results) const;

 private:
  std::size_t segments_ = 0;  // of all images
};

// A thread a subsequence of 1,024 bits: from a guess, then again and again from where the one before ended,
// all of them in each launch, until nothing can change.
class SubsequenceEntropyDecoding : public NaiveGroup<EntropyTask> {
 public:
  explicit SubsequenceEntropyDecoding(std::vector<EntropyTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] bool in_order(std::size_t image, const std::byte* results) const;

 private:
  std::size_t subsequences_ = 0;  // of all images
};

// A thread a block, then a thread a pixel; `pixels` only.
class NaiveReconstruction : public NaiveGroup<ReconstructionTask> {
 public:
  explicit NaiveReconstruction(std::vector<ReconstructionTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

 private:
  std::int64_t most_blocks_ = 0, most_pixels_ = 0;  // of an image
};

// A thread a block, then a thread an image that writes all its codes.
class NaiveJpegEncoding : public NaiveGroup<JpegEncodingTask> {
 public:
  explicit NaiveJpegEncoding(std::vector<JpegEncodingTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] JpegEncoding::Scan scan(std::size_t image, const std::byte* results) const;

 private:
  std::int64_t most_blocks_ = 0;  // of an image
};

// A thread a strip.
class NaivePngEncoding : public NaiveGroup<PngEncodingTask> {
 public:
  explicit NaivePngEncoding(std::vector<PngEncodingTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] std::vector<PngEncoding::Strip> strips(std::size_t image, const std::byte* results) const;

 private:
  std::size_t strips_ = 0;  // of all images
};

}  // namespace imgpipe

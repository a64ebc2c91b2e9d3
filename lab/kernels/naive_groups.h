// First attempts at codecs on a CUDA device, with the production classes' members: correct but slow.
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

inline constexpr std::size_t kPartBoundary = 256;  // alignment of each part of a group's memory
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

// One thread per restart segment, or per image if it has no restarts.
class NaiveEntropyDecoding : public NaiveGroup<EntropyTask> {
 public:
  explicit NaiveEntropyDecoding(std::vector<EntropyTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] bool is_intact(std::size_t image, const std::byte* results) const;

 private:
  std::size_t segments_ = 0;  // in all images
};

// One thread per subsequence of 1,024 bits. Each starts from a guess; each further round restarts every
// thread whose predecessor now ends in another state.
class SubsequenceEntropyDecoding : public NaiveGroup<EntropyTask> {
 public:
  explicit SubsequenceEntropyDecoding(std::vector<EntropyTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] bool is_intact(std::size_t image, const std::byte* results) const;

 private:
  std::size_t subsequences_ = 0;  // in all images
};

// One thread per block, then one per pixel; writes only `pixels`.
class NaiveReconstruction : public NaiveGroup<ReconstructionTask> {
 public:
  explicit NaiveReconstruction(std::vector<ReconstructionTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

 private:
  std::int64_t max_blocks_ = 0, max_pixels_ = 0;  // in one image
};

// One thread per block, then one thread per image that writes all its codes.
class NaiveJpegEncoding : public NaiveGroup<JpegEncodingTask> {
 public:
  explicit NaiveJpegEncoding(std::vector<JpegEncodingTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] JpegEncoding::Scan scan(std::size_t image, const std::byte* results) const;

 private:
  std::int64_t max_blocks_ = 0;  // in one image
};

// One thread per strip.
class NaivePngEncoding : public NaiveGroup<PngEncodingTask> {
 public:
  explicit NaivePngEncoding(std::vector<PngEncodingTask> tasks);
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] std::vector<PngEncoding::Strip> strips(std::size_t image, const std::byte* results) const;

 private:
  std::size_t strips_ = 0;  // in all images
};

}  // namespace imgpipe

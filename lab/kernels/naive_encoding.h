// Encoding on a CUDA device as a first attempt has it, with the members of the production classes
// (kernels/jpeg/encoding.h, kernels/png/encoding.h): right, and slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/jpeg/encoding.h"
#include "kernels/png/encoding.h"

namespace imgpipe {

// A thread a block, then a thread an image that writes all its codes.
class NaiveJpegEncoding {
 public:
  explicit NaiveJpegEncoding(std::vector<JpegEncodingTask> tasks);
  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] JpegEncoding::Scan scan(std::size_t image, const std::byte* results) const;

 private:
  std::vector<JpegEncodingTask> tasks_;
  std::int64_t most_blocks_ = 0;  // of an image
  GroupMemory memory_;
};

// A thread a strip.
class NaivePngEncoding {
 public:
  explicit NaivePngEncoding(std::vector<PngEncodingTask> tasks);
  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  [[nodiscard]] std::vector<PngEncoding::Strip> strips(std::size_t image, const std::byte* results) const;

 private:
  std::vector<PngEncodingTask> tasks_;
  std::size_t strips_ = 0;  // of all images
  GroupMemory memory_;
};

}  // namespace imgpipe

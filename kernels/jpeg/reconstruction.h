// Reconstructs pixels from the coefficients of baseline JPEGs on a CUDA device, several images per launch.
// Bit-exact with libjpeg-turbo (images/codecs/jpeg/jpeg_arithmetic.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/luma.h"
#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"

namespace imgpipe {

// One image. Planes must meet the requirements of kernels/cuda_launch.h; empty ones are not written.
struct ReconstructionTask {
  const BaselineScan* scan = nullptr;          // host; must stay valid until write_upload() returns
  const std::int16_t* coefficients = nullptr;  // device, as in EntropyTask
  // The file's pixels: interleaved RGB, or one grey plane.
  Plane<Sample8, Device> pixels{};
  // For a colour image, the result of the stage `gray`; for a grey image, the same as `pixels`.
  Plane<Sample8, Device> grey{};
  Luma luma = Luma::bt601;
  // Device: the histogram of the grey plane, kBins counters; nullptr: not counted.
  std::uint64_t* counts = nullptr;
};

class JpegReconstruction {
 public:
  explicit JpegReconstruction(std::vector<ReconstructionTask> tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  // Asynchronous. Accepts arbitrary coefficients; invalid ones give arbitrary pixels.
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

 private:
  std::vector<ReconstructionTask> tasks_;
  GroupMemory memory_;
  std::uint64_t luma_items_ = 0, colour_items_ = 0;  // reconstruction_plan.h
  bool any_pixels_ = false, any_grey_ = false, any_counts_ = false;
};

}  // namespace imgpipe

// Coefficients of baseline JPEGs to pixels on a CUDA device, several images in the same launches:
// libjpeg-turbo's arithmetic, to the bit (images/codecs/jpeg/jpeg_arithmetic.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"
#include "kernels/shared/luma.h"

namespace imgpipe {

// One image. Planes are as kernels/cuda_launch.h asks; those that are empty are not wanted.
struct ReconstructionTask {
  const BaselineScan* scan = nullptr;          // host; needed until write_upload() has returned
  const std::int16_t* coefficients = nullptr;  // device, as EntropyTask has them
  // What the file holds: interleaved RGB, or one grey plane.
  Plane<Sample8, Device> pixels{};
  // Of a colour image: what the stage `gray` makes of the pixels. Of a grey image: the same as `pixels`.
  Plane<Sample8, Device> grey{};
  Luma luma = Luma::bt601;
  // The histogram of the one grey plane that is made, kBins counters, device; nullptr: not wanted.
  std::uint64_t* counts = nullptr;
};

class JpegReconstruction {
 public:
  explicit JpegReconstruction(std::vector<ReconstructionTask> tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  // Asynchronous. Coefficients may hold anything: what is made of them is then any pixels.
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

 private:
  std::vector<ReconstructionTask> tasks_;
  GroupMemory memory_;
  std::uint64_t luma_items_ = 0, colour_items_ = 0;  // reconstruction_plan.h
  bool any_pixels_ = false, any_grey_ = false, any_counts_ = false;
};

}  // namespace imgpipe

#include <cuda_runtime.h>

#include "kernels/png/encoding.h"
#include "kernels/png/steps.h"

namespace imgpipe {

// H200, 2026-11-22, 8 smoothed grey images of 8 MP (128 strips), us, in the order of the steps: 65 | 161 | 51
// | 32 | 8 | 142; per group 452 on one stream, 380 on four (168 GP/s). The largest are bound by integer
// arithmetic, plan_strips() by the one thread that joins nodes. Slower: tokens of windows with copies taken
// one by one (pack_strips() 221); one warp per cell in find_repeats() (105); filters by emulated byte
// comparisons (choose_filters() 88).
CudaStatus PngEncoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  if (pictures_.empty()) return cudaSuccess;
  const png_strips::Group all = group(memory);
  CudaStatus status = cudaMemsetAsync(memory + layout_.zeroed, 0, layout_.zeroed_bytes, launch.stream);
  for (const auto step : {png_strips::choose_filters, png_strips::write_filtered, png_strips::plan_strips,
                          png_strips::find_repeats, png_strips::place_strips, png_strips::pack_strips}) {
    if (status != cudaSuccess) return status;
    status = step(all, launch.stream);
  }
  return status;
}

}  // namespace imgpipe

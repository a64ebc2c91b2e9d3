#include <cuda_runtime.h>

#include "kernels/png/encoding.h"
#include "kernels/png/steps.h"

namespace imgpipe {

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

// The steps of kernels/png/encoding.h in order; each launches its kernel on the stream.
#pragma once

#include "kernels/cuda_launch.h"
#include "kernels/png/group.h"

namespace imgpipe::png_strips {

[[nodiscard]] CudaStatus choose_filters(const Group& group, CUstream_st* stream);
[[nodiscard]] CudaStatus write_filtered(const Group& group, CUstream_st* stream);
[[nodiscard]] CudaStatus plan_strips(const Group& group, CUstream_st* stream);
[[nodiscard]] CudaStatus find_repeats(const Group& group, CUstream_st* stream);
[[nodiscard]] CudaStatus place_strips(const Group& group, CUstream_st* stream);
[[nodiscard]] CudaStatus pack_strips(const Group& group, CUstream_st* stream);

}  // namespace imgpipe::png_strips

// contrast with 16-bit input or output.
#include "kernels/contrast/contrast.h"
#include "kernels/contrast/find_range.cuh"
#include "kernels/contrast/wide_stretch.h"
#include "kernels/shared/map_samples.cuh"
#include "kernels/shared/pointwise.cuh"

namespace imgpipe {
namespace {

__device__ __forceinline__ std::uint32_t stretch_value(std::uint32_t value, const WideStretch& f) {
  const int d = __viaddmin_s32_relu(static_cast<int>(value), -static_cast<int>(f.lo),
                                    static_cast<int>(f.span));  // one instruction on Hopper
  return (__umulhi(static_cast<std::uint32_t>(d), f.factor_low) +
          static_cast<std::uint32_t>(d) * f.factor_high + 1) >>
         1;
}

// All threads of a block must call this. One thread computes the factor for the block; the barrier is before
// the others read it. If `range` is nullptr, the full range of values is stretched.
template <class To, class From>
__device__ WideStretch block_stretch(const StretchRange* range) {
  __shared__ WideStretch stretch;
  if (threadIdx.x == 0) {
    stretch = range == nullptr ? wide_stretch<To, From>(0, 0) : wide_stretch<To, From>(range->lo, range->hi);
  }
  __syncthreads();
  return stretch;
}

// Stretches plane blockIdx.z from 16 bits to 16.
IMGPIPE_POINTWISE_KERNEL contrast16_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                           const StretchRange* ranges) {
  map_words_after(plane_of_block(in), plane_of_block(out), [ranges] {
    const WideStretch stretch = block_stretch<Sample16, Sample16>(ranges + blockIdx.z);
    return [stretch](std::uint32_t word) {
      return pack_low(stretch_value(word & 0xFFFF, stretch), stretch_value(word >> 16, stretch));
    };
  });
}

// Changes the sample type of plane blockIdx.z: the first `colors` planes are stretched, alpha is converted.
template <class To, class From>
__global__ __launch_bounds__(kMapThreads, fitting_blocks(kMapThreads, kMapBlocks)) void contrast_to_kernel(
    SamplePlanes<const From> in, SamplePlanes<To> out, const StretchRange* ranges, unsigned colors) {
  const StretchRange* const range = blockIdx.z < colors ? ranges + blockIdx.z : nullptr;
  const WideStretch stretch = block_stretch<To, From>(range);
  map_samples(block_plane(in), block_plane(out),
              [&stretch](std::uint32_t value) { return stretch_value(value, stretch); });
}

template <class To, class From>
void launch_to(const StageCall<Device>& call, const StretchRange* ranges, const CudaLaunch& launch) {
  const auto in = sample_planes<const From>(call.in);
  contrast_to_kernel<To, From><<<map_grid(launch, in), kMapThreads, 0, launch.stream>>>(
      in, sample_planes<To>(call.out), ranges, static_cast<unsigned>(call.in.type.color_channels));
}

}  // namespace

CudaStatus stretch_ranges_clusters_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                        Clusters method) {
  const ContrastParameters parameters(call.parameters);
  const bool joint = parameters.stretch == Stretch::joint;
  const unsigned count = joint ? 1 : static_cast<unsigned>(call.in.type.color_channels);
  return launch_over_bins(&find_range_kernel<kBinBlocks>, &find_range_kernel<1>, count, launch, method,
                          call.histogram, parameters, call.table.as<StretchRange>());
}

CudaStatus stretch_ranges_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return stretch_ranges_clusters_cuda(call, launch, Clusters::where_supported);
}

CudaStatus contrast16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto* const ranges = call.table.as<const StretchRange>();
  if (!is_wide(call.in.type.sample)) {
    launch_to<Sample16, Sample8>(call, ranges, launch);
  } else if (!is_wide(call.out.type.sample)) {
    launch_to<Sample8, Sample16>(call, ranges, launch);
  } else {
    contrast16_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
        color_planes(call.in), color_planes(call.out), ranges);
  }
  return cudaGetLastError();
}

}  // namespace imgpipe

#include "kernels/shared/pointwise.cuh"
#include "kernels/threshold/parting.cuh"
#include "kernels/threshold/threshold.h"

namespace imgpipe {
namespace {

static_assert(kPointwiseThreads == kBins);  // one bin per thread

// All threads of a block must call this; each gets the value. Each bin's class depends on that of the
// previous bin, rounding by rounding: one thread computes all classes, and all threads compute the variances.
// Barriers: the counts and the warps' sums are complete before the classes, the classes before the variances,
// the warps' best before the block's.
__device__ int block_otsu_value(const std::uint64_t* counts) {
  __shared__ std::uint64_t count_of[kBins];
  __shared__ OtsuClass class_of[kBins];
  __shared__ bool parts[kBins];
  __shared__ double mean;
  __shared__ std::uint64_t warp_pixels[kBins / kWarpLanes];
  const int bin = static_cast<int>(threadIdx.x);
  std::uint64_t pixels = counts[bin];
  count_of[bin] = pixels;
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) pixels += __shfl_xor_sync(0xFFFFFFFF, pixels, step);
  if (bin % kWarpLanes == 0) warp_pixels[bin / kWarpLanes] = pixels;
  __syncthreads();
  if (bin == 0) {
    pixels = 0;
    for (const std::uint64_t some : warp_pixels) pixels += some;
    const double one = 1.0 / static_cast<double>(pixels);
    std::uint64_t sum = 0;
    OtsuClass below{0, 0};
    for (int v = 0; v < kBins; ++v) {
      sum += static_cast<unsigned>(v) * count_of[v];
      parts[v] = otsu_add(below, v, rounded_product(static_cast<double>(count_of[v]), one));
      class_of[v] = below;
    }
    mean = rounded_product(static_cast<double>(sum), one);
  }
  __syncthreads();
  // A variance of 0 does not part the histogram and yields value 0.
  Parting best{0, 0};
  if (parts[bin]) best = better(best, {otsu_variance(class_of[bin], mean), bin});
  return block_best<kBins>(best).value;
}

// Processes plane blockIdx.z. Every block computes Otsu's value itself, in parallel, so that nothing leaves
// the device and no kernel waits for another.
IMGPIPE_POINTWISE_KERNEL threshold_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                          Histogram<Device> histogram, ThresholdParameters parameters) {
  const Plane<const Sample8, Device> from = plane_of_block(in);
  const Plane<Sample8, Device> to = plane_of_block(out);
  int at = parameters.at;
  if (at == kOtsu) at = block_otsu_value(histogram.row(blockIdx.z));
  const std::uint32_t four = static_cast<std::uint32_t>(at) * 0x01010101U;
  map_words(from, to, [four](std::uint32_t word) { return __vcmpgtu4(word, four); });
}

}  // namespace

CudaStatus threshold_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  threshold_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), call.histogram, ThresholdParameters(call.parameters));
  return cudaGetLastError();
}

}  // namespace imgpipe

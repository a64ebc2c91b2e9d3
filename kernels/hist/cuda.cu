#include "kernels/hist/hist.h"
#include "kernels/hist/shared_counters.cuh"

namespace imgpipe {
namespace {

// Tunables, chosen on an H200: see kernels/hist in README's table.
constexpr int kThreads = 512;
constexpr int kBlocksPerMultiprocessor = 4;

// Plane blockIdx.z. A lane counts 16 adjacent pixels at a time; shared memory: kSharedCounters words (32
// KiB). Barriers: counters are cleared before the first count, and complete before they are summed.
__global__ __launch_bounds__(kThreads) void hist_kernel(DevicePlanes<const Sample> planes,
                                                        Histogram<Device> histogram) {
  __shared__ std::uint32_t counts[kSharedCounters];
  const Plane<const Sample, Device> plane = plane_of_block(planes);
  clear_counters(counts);
  __syncthreads();
  for (RowSegments at(plane.width, plane.height); at.inside(); at.next()) {
    const std::int64_t left = plane.width - at.x();
    if (left <= 0) continue;
    const uint4 vector = load_vector(plane.row(at.y()) + at.x());
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    count_vector(counts, words, left);
  }
  __syncthreads();
  flush_counters(counts, histogram.row(blockIdx.z));
}

}  // namespace

CudaStatus hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto planes = static_cast<unsigned>(call.in.shape.color_channels);
  const cudaError_t cleared = cudaMemsetAsync(
      call.histogram.data, 0,
      planes * static_cast<std::size_t>(call.histogram.stride) * sizeof(std::uint64_t), launch.stream);
  if (cleared != cudaSuccess) return cleared;
  const dim3 grid(stride_blocks(launch, call.in.shape, kThreads, kBlocksPerMultiprocessor), 1, planes);
  hist_kernel<<<grid, kThreads, 0, launch.stream>>>(
      {{call.in.planes[0], call.in.planes[1], call.in.planes[2]}}, call.histogram);
  return cudaGetLastError();
}

}  // namespace imgpipe

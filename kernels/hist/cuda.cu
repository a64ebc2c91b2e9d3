#include "kernels/hist/hist.h"
#include "kernels/hist/shared_counters.cuh"

namespace imgpipe {
namespace {

// H200, 2026-11-20, 8773x5352, with the clearing, us: 23.2 so; 24.5 with 512 threads and 4 blocks; 28 with
// one vector a lane.
constexpr int kThreads = 1024;
constexpr int kBlocksPerMultiprocessor =
    2;  // 2048 threads; more, smaller blocks clear and flush more counters
constexpr int kVectors = 2;

// Plane blockIdx.z. A lane counts 16 adjacent pixels at a time; shared memory: kSharedCounters words (32
// KiB). Barriers: counters are cleared before the first count, and complete before they are summed.
__global__ __launch_bounds__(kThreads, fitting_blocks(kThreads, kBlocksPerMultiprocessor)) void hist_kernel(
    DevicePlanes<const Sample> planes, Histogram<Device> histogram) {
  __shared__ std::uint32_t counts[kSharedCounters];
  const Plane<const Sample, Device> plane = plane_of_block(planes);
  clear_counters(counts);
  __syncthreads();
  for (RowSegments<kVectors> at(plane.width, plane.height); at.inside(); at.next()) {
    const std::int64_t left = plane.width - at.x();
    const Sample* from = plane.row(at.y()) + at.x();
    uint4 vectors[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (left > i * kSegmentPixels) vectors[i] = load_vector(from + i * kSegmentPixels);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (left <= i * kSegmentPixels) break;
      const std::uint32_t words[4] = {vectors[i].x, vectors[i].y, vectors[i].z, vectors[i].w};
      count_vector(counts, words, left - i * kSegmentPixels);
    }
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
  const dim3 grid(stride_blocks<kVectors>(launch, call.in.shape, kThreads, kBlocksPerMultiprocessor), 1,
                  planes);
  hist_kernel<<<grid, kThreads, 0, launch.stream>>>(
      {{call.in.planes[0], call.in.planes[1], call.in.planes[2]}}, call.histogram);
  return cudaGetLastError();
}

}  // namespace imgpipe

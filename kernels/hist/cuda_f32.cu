#include "kernels/hist/hist.h"
#include "kernels/shared/pointwise.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocksPerMultiprocessor = 4;

// Counts plane blockIdx.z, a row per block in turn. A thread adds runs of samples with the same counter at
// once, because an image of one value would add to a single word. Shared memory: thresholds and counters.
// Barriers: after both are set; after counting.
__global__ __launch_bounds__(kThreads) void hist_f32_kernel(DevicePlanes<const float> planes,
                                                            const float* table, Histogram<Device> histogram) {
  constexpr int kCounters = counters_of(Sample::f32);
  __shared__ float thresholds[kThresholds];
  __shared__ std::uint32_t counts[kCounters];
  for (int i = static_cast<int>(threadIdx.x); i < kThresholds; i += kThreads) thresholds[i] = table[i];
  for (int i = static_cast<int>(threadIdx.x); i < kCounters; i += kThreads) counts[i] = 0;
  __syncthreads();
  const Plane<const float, Device> plane = plane_of_block(planes);
  int counter = 0;
  std::uint32_t run = 0;
  for (std::int64_t y = blockIdx.x; y < plane.height; y += gridDim.x) {
    for (std::int64_t x = threadIdx.x; x < plane.width; x += kThreads) {
      const int next = float_counter(thresholds, plane.row(y)[x]);
      if (next != counter) {
        if (run > 0) atomicAdd(&counts[counter], run);
        counter = next;
        run = 0;
      }
      ++run;
    }
  }
  if (run > 0) atomicAdd(&counts[counter], run);
  __syncthreads();
  auto* const totals = reinterpret_cast<unsigned long long*>(histogram.row(blockIdx.z));
  for (int i = static_cast<int>(threadIdx.x); i < kCounters; i += kThreads) {
    if (counts[i] != 0) atomicAdd(totals + i, static_cast<unsigned long long>(counts[i]));
  }
}

}  // namespace

CudaStatus hist_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  if (const CudaStatus cleared = clear_histogram(call, launch); cleared != cudaSuccess) return cleared;
  const std::int64_t filling = std::int64_t{launch.multiprocessors} * kBlocksPerMultiprocessor;
  const dim3 grid(static_cast<unsigned>(call.in.type.height < filling ? call.in.type.height : filling), 1,
                  static_cast<unsigned>(call.in.type.color_channels));
  hist_f32_kernel<<<grid, kThreads, 0, launch.stream>>>(
      {{call.in.plane<float>(0), call.in.plane<float>(1), call.in.plane<float>(2)}},
      call.table.as<const float>(), call.histogram);
  return cudaGetLastError();
}

}  // namespace imgpipe

// hist of 16-bit samples: a block counts with PackedCounters. Where 128 KiB of shared memory may be had
// (compute capability 8.0, 8.7, 9.0, 10.x) it holds all values and the plane is read once; elsewhere halves
// or quarters of the values.
//
// Considered and not taken: counters of 32 bits in two passes (reads the plane twice), or in the two blocks
// of a cluster (compute capability 9.0 on alone, and half of all additions cross to another multiprocessor);
// additions straight to device memory (a lane each, 47 million of them for a plane of 47 MP).
#include "kernels/hist/hist.h"
#include "kernels/hist/packed_counters.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 1024;

// The part blockIdx.y of the values of plane blockIdx.z, whose rows are walked over as bytes. A lane counts 8
// adjacent samples while the next 8 are on their way. Shared memory: PackedCounters<Parts>::kBytes. Barriers:
// counters are cleared before the first count, and complete before they are summed. All lanes of a warp walk
// on until the last of them is done.
template <int Parts>
__global__ __launch_bounds__(kThreads, 1) void hist16_kernel(DevicePlanes<const Sample> planes,
                                                             Histogram<Device> histogram) {
  extern __shared__ __align__(16) std::uint32_t shared_words[];
  PackedCounters<Parts> counters{
      shared_words, reinterpret_cast<unsigned long long*>(histogram.row(blockIdx.z)), blockIdx.y};
  VectorWalk at(plane_of_block(planes));
  uint4 vector{};
  int left = 0;
  const auto load_next = [&] {
    left = 0;
    if (!at.inside()) return;
    left = static_cast<int>(min(at.wide_left() / 2, static_cast<unsigned>(kWideVectorPixels)));
    vector = load_vector(at.from());
    at.next();
  };
  load_next();
  counters.clear();
  __syncthreads();
  while (__any_sync(kAllLanes, left > 0 ? 1 : 0) != 0) {
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    const int count = left;
    load_next();
    count_warp(counters, words, count);
  }
  __syncthreads();
  counters.flush();
}

template <int Parts>
CudaStatus launch_hist(const StageCall<Device>& call, const CudaLaunch& launch) {
  const std::int64_t vectors =
      (call.in.type.width + kWideVectorPixels - 1) / kWideVectorPixels * call.in.type.height;
  const std::int64_t useful = (vectors + kThreads - 1) / kThreads;
  const dim3 grid(static_cast<unsigned>(useful < launch.multiprocessors ? useful : launch.multiprocessors),
                  Parts, static_cast<unsigned>(call.in.type.color_channels));
  constexpr int kBytes = PackedCounters<Parts>::kBytes;
  const cudaError_t allowed =
      cudaFuncSetAttribute(hist16_kernel<Parts>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (allowed != cudaSuccess) return allowed;
  hist16_kernel<Parts><<<grid, kThreads, kBytes, launch.stream>>>(
      {{bytes_of(call.in.planes[0]), bytes_of(call.in.planes[1]), bytes_of(call.in.planes[2])}},
      call.histogram);
  return cudaGetLastError();
}

}  // namespace

CudaStatus hist16_parts_cuda(const StageCall<Device>& call, const CudaLaunch& launch, int parts) {
  const cudaError_t cleared = cudaMemsetAsync(
      call.histogram.data, 0,
      static_cast<std::size_t>(call.in.type.color_channels * call.histogram.stride) * sizeof(std::uint64_t),
      launch.stream);
  if (cleared != cudaSuccess) return cleared;
  if (parts == 1) return launch_hist<1>(call, launch);
  return parts == 2 ? launch_hist<2>(call, launch) : launch_hist<4>(call, launch);
}

CudaStatus hist16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  int most_bytes = 0;
  if (const cudaError_t found = shared_bytes_of_a_block(most_bytes); found != cudaSuccess) return found;
  const bool all = most_bytes >= static_cast<int>(PackedCounters<1>::kBytes);
  const bool half = most_bytes >= static_cast<int>(PackedCounters<2>::kBytes);
  return hist16_parts_cuda(call, launch, all ? 1 : half ? 2 : 4);
}

}  // namespace imgpipe

#include "kernels/hist/hist.h"
#include "kernels/shared/shared_counters.cuh"

namespace imgpipe {
namespace {

// H200, 2026-11-21, 8773x5352, including the clearing, us, one value | two | five | noise: 18.4 | 18.6 | 18.6
// | 19.3. Slower: two vectors in flight 19.4 to 20.2; 512 threads and 4 blocks 20.1 to 22.3; a row segment
// per warp, two vectors loaded and then counted, 22.4 to 22.7. Clearing by a kernel and launching this one
// early (griddepcontrol): 18.1, rejected because it needs compute capability 9.0. 2026-11-22, counters
// located by dot products, buffers not in the cache: 17.9 (before: 19.8); launched early 17.3. After gray,
// walking the rows downwards | upwards: 20.6 | 18.8. There, loads that the L2 cache evicts first take 18.1,
// but contrast, which reads the same plane, takes 2.3 more.
constexpr int kThreads = 1024;
// 2048 threads in total; more, smaller blocks clear and flush more counters.
constexpr int kBlocksPerMultiprocessor = 2;

// Counts plane blockIdx.z. Threads walk as in VectorWalk; each counts 16 adjacent pixels while the next 16
// load. Shared memory: kSharedCounters words (32 KiB). Barriers: after clearing; after counting.
__global__ __launch_bounds__(kThreads, fitting_blocks(kThreads, kBlocksPerMultiprocessor)) void hist_kernel(
    DevicePlanes<const Sample8> planes, Histogram<Device> histogram) {
  __shared__ __align__(16) std::uint32_t counts[kSharedCounters];
  VectorWalk at(plane_of_block(planes));
  uint4 vector{};
  int left = 0;
  const auto load_next = [&] {
    left = 0;
    if (!at.inside()) return;
    left = at.left();
    vector = load_vector(at.from());
    at.next();
  };
  load_next();
  clear_counters(counts);
  __syncthreads();
  while (left > 0) {
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    const int count = left;
    load_next();
    count_vector(counts, words, count);
  }
  __syncthreads();
  flush_counters(counts, histogram.row(blockIdx.z));
}

// Returns the number of resident blocks, at most as many as there is work for.
unsigned blocks_for(const CudaLaunch& launch, const FrameType& shape) {
  const std::int64_t vectors = (shape.width + kVectorPixels - 1) / kVectorPixels * shape.height;
  const std::int64_t useful = (vectors + kThreads - 1) / kThreads;
  const std::int64_t filling = std::int64_t{launch.multiprocessors} * kBlocksPerMultiprocessor;
  return static_cast<unsigned>(useful < filling ? useful : filling);
}

}  // namespace

CudaStatus clear_histogram(const StageCall<Device>& call, const CudaLaunch& launch) {
  return cudaMemsetAsync(
      call.histogram.data, 0,
      static_cast<std::size_t>(call.in.type.color_channels * call.histogram.stride) * sizeof(std::uint64_t),
      launch.stream);
}

CudaStatus hist_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  if (const CudaStatus cleared = clear_histogram(call, launch); cleared != cudaSuccess) return cleared;
  const dim3 grid(blocks_for(launch, call.in.type), 1, static_cast<unsigned>(call.in.type.color_channels));
  hist_kernel<<<grid, kThreads, 0, launch.stream>>>(
      {{call.in.plane<Sample8>(0), call.in.plane<Sample8>(1), call.in.plane<Sample8>(2)}}, call.histogram);
  return cudaGetLastError();
}

}  // namespace imgpipe

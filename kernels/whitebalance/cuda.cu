#include "kernels/shared/pointwise.cuh"
#include "kernels/whitebalance/whitebalance.h"

namespace imgpipe {
namespace {

constexpr int kTableThreads = 1024;
static_assert(kPointwiseThreads == kBins);  // each thread copies one entry

// Block blockIdx.x makes the table of that plane. Barriers: the sums are cleared before threads add to them,
// and complete before they are used.
template <class T>
__global__ __launch_bounds__(kTableThreads) void table_kernel(Histogram<Device> histogram, T* tables) {
  __shared__ unsigned long long sums[3];
  if (threadIdx.x < 3) sums[threadIdx.x] = 0;
  __syncthreads();
  const auto first = static_cast<std::int64_t>(threadIdx.x);
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    unsigned long long sum = 0;
    for (std::int64_t v = first; v < histogram.width; v += kTableThreads)
      sum += static_cast<unsigned long long>(v) * __ldg(histogram.row(c) + v);
    atomicAdd(&sums[c], sum);
  }
  __syncthreads();
  const std::int64_t factor = gray_world_factor(sums[0] + sums[1] + sums[2], sums[blockIdx.x]);
  T* const table = tables + std::int64_t{blockIdx.x} * histogram.width;
  for (std::int64_t v = first; v < histogram.width; v += kTableThreads) table[v] = balanced<T>(v, factor);
}

// Processes plane blockIdx.z. Shared memory: its table, 256 bytes. Barrier: it is complete before the first
// lookup.
IMGPIPE_POINTWISE_KERNEL balance_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                        const Sample8* tables) {
  __shared__ Sample8 result_of[kBins];
  result_of[threadIdx.x] = tables[blockIdx.z * kBins + threadIdx.x];
  __syncthreads();
  map_words(plane_of_block(in), plane_of_block(out), [&](std::uint32_t word) {
    const std::uint32_t low = result_of[word & 0xFF] | std::uint32_t{result_of[word >> 8 & 0xFF]} << 8;
    const std::uint32_t high = result_of[word >> 16 & 0xFF] | std::uint32_t{result_of[word >> 24]} << 8;
    return low | high << 16;
  });
}

}  // namespace

CudaStatus whitebalance_tables_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) -> CudaStatus {
    table_kernel<T><<<3, kTableThreads, 0, launch.stream>>>(call.histogram, call.table.as<T>());
    return cudaGetLastError();
  });
}

CudaStatus whitebalance_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  balance_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), call.table.as<Sample8>());
  return cudaGetLastError();
}

}  // namespace imgpipe

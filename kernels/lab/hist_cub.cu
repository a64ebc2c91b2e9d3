// cub::DeviceHistogram as a yardstick. Scratch: the counts, then CUB's own. And how the 32-bit counts of
// libraries become the stage's.
#include <cub/device/device_histogram.cuh>

#include "kernels/lab/hist_ladder.h"
#include "kernels/lab/ladder.cuh"

namespace imgpipe {
namespace {

constexpr int kLevels = kBins + 1;
constexpr std::size_t kCountsBytes = kBins * sizeof(std::uint32_t);

cudaError_t count(void* own, std::size_t& own_bytes, const Plane<const Sample, Device>& in,
                  std::uint32_t* counts, const CudaLaunch& launch) {
  return cub::DeviceHistogram::HistogramEven(
      own, own_bytes, in.data, counts, kLevels, 0, kBins, static_cast<std::int64_t>(in.width),
      static_cast<std::int64_t>(in.height), static_cast<std::size_t>(in.stride), launch.stream);
}

__global__ __launch_bounds__(kBins) void collect_kernel(const std::uint32_t* from, Histogram<Device> counts) {
  counts.data[threadIdx.x] = from[threadIdx.x];
}

}  // namespace

std::size_t hist_cub_bytes(const FrameType& shape, const RungLaunch& launch) {
  // Rows without padding are one long row to CUB, which wants another amount.
  std::size_t bytes[2] = {0, 0};
  for (const std::int64_t padding : {0, 1})
    (void)count(nullptr, bytes[padding], {nullptr, shape.width, shape.height, shape.width + padding, 1},
                nullptr, launch);
  return kCountsBytes + (bytes[0] > bytes[1] ? bytes[0] : bytes[1]);
}

CudaStatus hist_cub(const StageCall<Device>& call, const RungLaunch& launch) {
  auto* counts = static_cast<std::uint32_t*>(launch.scratch);
  std::size_t bytes = hist_cub_bytes(call.in.type, launch) - kCountsBytes;
  return count(counts + kBins, bytes, call.in.plane<Sample>(0), counts, launch);
}

CudaStatus hist_collect(const StageCall<Device>& call, const RungLaunch& launch) {
  collect_kernel<<<1, kBins, 0, launch.stream>>>(static_cast<const std::uint32_t*>(launch.scratch),
                                                 call.histogram);
  return cudaGetLastError();
}

}  // namespace imgpipe

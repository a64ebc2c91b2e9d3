// cub::DeviceHistogram as a baseline. Scratch: the counts, then CUB's temporary storage. Also converts the
// 32-bit counts of libraries to the stage's 64-bit counts.
#include <cub/device/device_histogram.cuh>

#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

std::size_t counts_bytes(const FrameType& type) {
  return static_cast<std::size_t>(type.bins()) * sizeof(std::uint32_t);
}

template <class T>
cudaError_t count(void* own, std::size_t& own_bytes, const Plane<const T, Device>& in, std::uint32_t* counts,
                  const CudaLaunch& launch) {
  constexpr int kValues = kLargest<T> + 1;
  return cub::DeviceHistogram::HistogramEven(
      own, own_bytes, in.data, counts, kValues + 1, 0, kValues, static_cast<std::int64_t>(in.width),
      static_cast<std::int64_t>(in.height), static_cast<std::size_t>(in.stride) * sizeof(T), launch.stream);
}

template <class T>
std::size_t own_bytes(const FrameType& shape, const CudaLaunch& launch) {
  // CUB treats rows without padding as one long row, which needs a different amount of temporary storage.
  std::size_t bytes[2] = {0, 0};
  for (const std::int64_t padding : {0, 1})
    (void)count<T>(nullptr, bytes[padding], {nullptr, shape.width, shape.height, shape.width + padding, 1},
                   nullptr, launch);
  return bytes[0] > bytes[1] ? bytes[0] : bytes[1];
}

template <class T>
CudaStatus launch_cub(const StageCall<Device>& call, const VariantLaunch& launch) {
  auto* counts = static_cast<std::uint32_t*>(launch.scratch);
  std::size_t bytes = own_bytes<T>(call.in.type, launch);
  return count(counts + call.in.type.bins(), bytes, call.in.plane<T>(0), counts, launch);
}

// 256 counters per block.
__global__ __launch_bounds__(kBins) void collect_kernel(const std::uint32_t* from, Histogram<Device> counts) {
  const unsigned bin = blockIdx.x * kBins + threadIdx.x;
  counts.data[bin] = from[bin];
}

}  // namespace

std::size_t hist_cub_bytes(const FrameType& shape, const VariantLaunch& launch) {
  return counts_bytes(shape) +
         visit_sample(shape.sample, [&]<class T>(T) { return own_bytes<T>(shape, launch); });
}

CudaStatus hist_cub(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_cub<T>(call, launch); });
}

CudaStatus hist_collect(const StageCall<Device>& call, const VariantLaunch& launch) {
  collect_kernel<<<static_cast<unsigned>(call.in.type.bins() / kBins), kBins, 0, launch.stream>>>(
      static_cast<const std::uint32_t*>(launch.scratch), call.histogram);
  return cudaGetLastError();
}

}  // namespace imgpipe

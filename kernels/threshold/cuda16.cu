#include "kernels/shared/pointwise.cuh"
#include "kernels/threshold/otsu16.cuh"
#include "kernels/threshold/otsu_choice.cuh"
#include "kernels/threshold/threshold.h"

namespace imgpipe {
namespace {

// Block c finds Otsu's value of plane c, or of one that is undecided; see otsu16.cuh.
__global__ __launch_bounds__(kOtsuBins) void otsu16_kernel(Histogram<Device> histogram, int* values,
                                                           OtsuWay way) {
  if (way == OtsuWay::chosen && values[blockIdx.x] != kUndecided) return;
  __shared__ OtsuShared shared;
  OtsuSearch search(histogram.row(blockIdx.x), static_cast<int>(histogram.width), shared);
  const int value = search.value(way == OtsuWay::by_divisions);
  if (threadIdx.x == 0) values[blockIdx.x] = value;
}

// Plane blockIdx.z, at a value of its own, or at `at` where there are none.
IMGPIPE_POINTWISE_KERNEL threshold16_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                            const int* values, int at) {
  if (values != nullptr) at = values[blockIdx.z];
  const std::uint32_t two = static_cast<std::uint32_t>(at) * 0x00010001U;
  map_words(plane_of_block(in), plane_of_block(out),
            [two](std::uint32_t word) { return __vcmpgtu2(word, two); });
}

CudaStatus find_otsu(const StageCall<Device>& call, const CudaLaunch& launch, OtsuWay way, Clusters clusters,
                     int* values) {
  const auto planes = static_cast<unsigned>(call.in.type.color_channels);
  if (way == OtsuWay::chosen || way == OtsuWay::chosen_only) {
    const CudaStatus chosen = launch_over_bins(&otsu_choice_kernel<kBinBlocks>, &otsu_choice_kernel<1>,
                                               planes, launch, clusters, call.histogram, values);
    if (chosen != cudaSuccess || way == OtsuWay::chosen_only) return chosen;
  }
  otsu16_kernel<<<planes, kOtsuBins, 0, launch.stream>>>(call.histogram, values, way);
  return cudaGetLastError();
}

}  // namespace

CudaStatus threshold16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, OtsuWay otsu,
                                Clusters way) {
  const ThresholdParameters parameters(call.parameters);
  const int* values = nullptr;
  if (parameters.at == kOtsu) {
    values = call.found.as<int>();
    if (values == nullptr) {
      auto* const own = reinterpret_cast<int*>(call.finds);
      if (own == nullptr) return cudaErrorInvalidValue;
      if (const CudaStatus status = find_otsu(call, launch, otsu, way, own); status != cudaSuccess)
        return status;
      values = own;
    }
  }
  threshold16_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), values, parameters.at);
  return cudaGetLastError();
}

CudaStatus threshold16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, OtsuWay way) {
  return threshold16_way_cuda(call, launch, way, Clusters::where_they_are);
}

CudaStatus threshold16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return threshold16_way_cuda(call, launch, OtsuWay::chosen);
}

}  // namespace imgpipe

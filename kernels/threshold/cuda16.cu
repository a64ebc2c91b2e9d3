#include "kernels/shared/pointwise.cuh"
#include "kernels/threshold/otsu16.cuh"
#include "kernels/threshold/otsu_choice.cuh"
#include "kernels/threshold/threshold.h"

namespace imgpipe {
namespace {

// Block c finds Otsu's value of plane c (OtsuMethod::chosen: only if undecided); see otsu16.cuh.
__global__ __launch_bounds__(kOtsuBins) void otsu16_kernel(Histogram<Device> histogram, int* values,
                                                           OtsuMethod method) {
  if (method == OtsuMethod::chosen && values[blockIdx.x] != kUndecided) return;
  __shared__ OtsuShared shared;
  OtsuSearch search(histogram.row(blockIdx.x), static_cast<int>(histogram.width), shared);
  const int value = search.value(method == OtsuMethod::by_divisions);
  if (threadIdx.x == 0) values[blockIdx.x] = value;
}

// Processes plane blockIdx.z, with the plane's value or, if `values` is null, with `at`.
IMGPIPE_POINTWISE_KERNEL threshold16_kernel(DevicePlanes<const Sample8> in, DevicePlanes<Sample8> out,
                                            const int* values, int at) {
  if (values != nullptr) at = values[blockIdx.z];
  const std::uint32_t two = static_cast<std::uint32_t>(at) * 0x00010001U;
  map_words(plane_of_block(in), plane_of_block(out),
            [two](std::uint32_t word) { return __vcmpgtu2(word, two); });
}

}  // namespace

CudaStatus threshold_table_method_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                       OtsuMethod otsu, Clusters method) {
  const auto planes = static_cast<unsigned>(call.in.type.color_channels);
  int* const values = call.table.as<int>();
  if (otsu == OtsuMethod::chosen || otsu == OtsuMethod::chosen_only) {
    const CudaStatus chosen = launch_over_bins(&otsu_choice_kernel<kBinBlocks>, &otsu_choice_kernel<1>,
                                               planes, launch, method, call.histogram, values);
    if (chosen != cudaSuccess || otsu == OtsuMethod::chosen_only) return chosen;
  }
  otsu16_kernel<<<planes, kOtsuBins, 0, launch.stream>>>(call.histogram, values, otsu);
  return cudaGetLastError();
}

CudaStatus threshold_table_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return threshold_table_method_cuda(call, launch, OtsuMethod::chosen, Clusters::where_supported);
}

CudaStatus threshold16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const int at = ThresholdParameters(call.parameters).at;
  threshold16_kernel<<<pointwise_grid(launch, call.in.type), kPointwiseThreads, 0, launch.stream>>>(
      color_planes(call.in), color_planes(call.out), at == kOtsu ? call.table.as<int>() : nullptr, at);
  return cudaGetLastError();
}

}  // namespace imgpipe

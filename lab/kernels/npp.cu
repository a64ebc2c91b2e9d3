// The baselines from NVIDIA Performance Primitives; the lab loads NPP (lab/pipeline/toolkit_library.h).
#include "kernels/gray/gray.h"
#include "kernels/smooth/smooth.h"
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/npp_functions.cuh"
#include "lab/kernels/variant_functions.h"

#if IMGPIPE_HAS_NPP

namespace imgpipe {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  (void)cudaDeviceGetAttribute(&value, which, device);
  return value;
}

NppStreamContext context_of(const CudaLaunch& launch) {
  NppStreamContext context{};
  int device = 0;
  (void)cudaGetDevice(&device);
  context.hStream = launch.stream;
  context.nCudaDeviceId = device;
  context.nMultiProcessorCount = launch.multiprocessors;
  context.nMaxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device);
  context.nMaxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock, device);
  context.nSharedMemPerBlock =
      static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlock, device));
  context.nCudaDevAttrComputeCapabilityMajor = attribute(cudaDevAttrComputeCapabilityMajor, device);
  context.nCudaDevAttrComputeCapabilityMinor = attribute(cudaDevAttrComputeCapabilityMinor, device);
  (void)cudaStreamGetFlags(launch.stream, &context.nStreamFlags);
  return context;
}

NppiSize size_of(const FrameType& shape) {
  return {static_cast<int>(shape.width), static_cast<int>(shape.height)};
}

template <class T>
int step_of(const Plane<T, Device>& plane) {
  return static_cast<int>(plane.stride);
}

// NPP's warnings are positive numbers.
CudaStatus status_of(NppStatus status) {
  return status < 0 ? cudaErrorUnknown : cudaGetLastError();
}

constexpr int kLevels = kBins + 1;
constexpr std::size_t kCountsBytes = kBins * sizeof(Npp32s);

// The sizes were int before CUDA 12.
template <class Bytes>
std::size_t buffer_bytes(NppStatus (*query)(NppiSize, int, Bytes*, NppStreamContext), const FrameType& shape,
                         const CudaLaunch& launch) {
  Bytes bytes = 0;
  (void)query(size_of(shape), kLevels, &bytes, context_of(launch));
  return static_cast<std::size_t>(bytes);
}

}  // namespace

CudaStatus gray_npp(const StageCall<Device>& call, const VariantLaunch& launch) {
  const LumaWeights weights = luma_weights(GrayParameters(call.parameters).luma);
  const float whole = static_cast<float>(1U << weights.shift);
  const Npp32f factors[3] = {static_cast<float>(weights.r) / whole, static_cast<float>(weights.g) / whole,
                             static_cast<float>(weights.b) / whole};
  return status_of(launch.npp->to_gray(call.in.plane<Sample8>(0).data, step_of(call.in.plane<Sample8>(0)),
                                       call.out.plane<Sample8>(0).data, step_of(call.out.plane<Sample8>(0)),
                                       size_of(call.in.type), factors, context_of(launch)));
}

// Scratch: the counts, then NPP's buffer.
std::size_t hist_npp_bytes(const FrameType& shape, const VariantLaunch& launch) {
  return kCountsBytes + buffer_bytes(launch.npp->even_bytes, shape, launch);
}

CudaStatus hist_npp(const StageCall<Device>& call, const VariantLaunch& launch) {
  auto* counts = static_cast<Npp32s*>(launch.scratch);
  return status_of(launch.npp->even(call.in.plane<Sample8>(0).data, step_of(call.in.plane<Sample8>(0)),
                                    size_of(call.in.type), counts, kLevels, 0, kBins,
                                    reinterpret_cast<Npp8u*>(counts + kBins), context_of(launch)));
}

CudaStatus smooth_npp(const StageCall<Device>& call, const VariantLaunch& launch) {
  return status_of(launch.npp->box(call.in.plane<Sample8>(0).data, step_of(call.in.plane<Sample8>(0)),
                                   size_of(call.in.type), {0, 0}, call.out.plane<Sample8>(0).data,
                                   step_of(call.out.plane<Sample8>(0)), size_of(call.in.type), {kTaps, kTaps},
                                   {kRadius, kRadius}, NPP_BORDER_REPLICATE, context_of(launch)));
}

}  // namespace imgpipe

#else

namespace imgpipe {

CudaStatus gray_npp(const StageCall<Device>&, const VariantLaunch&) {
  return cudaErrorNotSupported;
}
std::size_t hist_npp_bytes(const FrameType&, const VariantLaunch&) {
  return 0;
}
CudaStatus hist_npp(const StageCall<Device>&, const VariantLaunch&) {
  return cudaErrorNotSupported;
}
CudaStatus smooth_npp(const StageCall<Device>&, const VariantLaunch&) {
  return cudaErrorNotSupported;
}

}  // namespace imgpipe

#endif

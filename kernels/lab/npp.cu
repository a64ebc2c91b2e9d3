// The yardsticks of NVIDIA Performance Primitives. Their libraries hold kernels of hundreds of megabytes and
// are on few machines that run the program, so they are not linked.
#include "kernels/lab/gray_ladder.h"
#include "kernels/lab/hist_ladder.h"
#include "kernels/lab/ladder.cuh"
#include "kernels/lab/npp.h"
#include "kernels/lab/smooth_ladder.h"

#if __has_include(<nppi_statistics_functions.h>)

#include <string>

#include <dlfcn.h>
#include <nppi_color_conversion.h>
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>

namespace imgpipe {
namespace {

// Where the toolkit that this was built with keeps its libraries; then wherever the loader looks.
void* open_library(const char* name) {
  const std::string file = std::string("lib") + name + ".so." + std::to_string(CUDART_VERSION / 1000);
  if (void* library = ::dlopen((IMGPIPE_NPP_FOLDER "/" + file).c_str(), RTLD_NOW)) return library;
  return ::dlopen(file.c_str(), RTLD_NOW);
}

template <class Function>
Function* find(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
}

struct Npp {
  Npp() {
    void* color = open_library("nppicc");
    void* filter = open_library("nppif");
    void* statistics = open_library("nppist");
    to_gray = find<decltype(nppiColorToGray_8u_C3C1R_Ctx)>(color, "nppiColorToGray_8u_C3C1R_Ctx");
    box = find<decltype(nppiFilterBoxBorder_8u_C1R_Ctx)>(filter, "nppiFilterBoxBorder_8u_C1R_Ctx");
    even = find<decltype(nppiHistogramEven_8u_C1R_Ctx)>(statistics, "nppiHistogramEven_8u_C1R_Ctx");
    even_bytes = find<decltype(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx)>(
        statistics, "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx");
  }
  [[nodiscard]] bool complete() const {
    return to_gray != nullptr && box != nullptr && even != nullptr && even_bytes != nullptr;
  }

  decltype(nppiColorToGray_8u_C3C1R_Ctx)* to_gray = nullptr;
  decltype(nppiFilterBoxBorder_8u_C1R_Ctx)* box = nullptr;
  decltype(nppiHistogramEven_8u_C1R_Ctx)* even = nullptr;
  decltype(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx)* even_bytes = nullptr;
};

const Npp& npp() {
  static const Npp loaded;
  return loaded;
}

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

// NPP warns by positive numbers.
CudaStatus status_of(NppStatus status) {
  return status < 0 ? cudaErrorUnknown : cudaGetLastError();
}

constexpr int kLevels = kBins + 1;
constexpr std::size_t kCountsBytes = kBins * sizeof(Npp32s);

// Sizes were int before CUDA 12.
template <class Bytes>
std::size_t buffer_bytes(NppStatus (*query)(NppiSize, int, Bytes*, NppStreamContext), const FrameType& shape,
                         const CudaLaunch& launch) {
  Bytes bytes = 0;
  (void)query(size_of(shape), kLevels, &bytes, context_of(launch));
  return static_cast<std::size_t>(bytes);
}

}  // namespace

const char* npp_missing() {
  return npp().complete() ? nullptr : "the libraries of NPP were not found";
}

CudaStatus gray_npp(const StageCall<Device>& call, const RungLaunch& launch) {
  const LumaWeights weights = luma_weights(GrayParameters(call.parameters).luma);
  const float whole = static_cast<float>(1U << weights.shift);
  const Npp32f factors[3] = {static_cast<float>(weights.r) / whole, static_cast<float>(weights.g) / whole,
                             static_cast<float>(weights.b) / whole};
  return status_of(npp().to_gray(call.in.plane<Sample>(0).data, step_of(call.in.plane<Sample>(0)),
                                 call.out.plane<Sample>(0).data, step_of(call.out.plane<Sample>(0)),
                                 size_of(call.in.type), factors, context_of(launch)));
}

// Scratch: the counts, then NPP's own.
std::size_t hist_npp_bytes(const FrameType& shape, const RungLaunch& launch) {
  return kCountsBytes + buffer_bytes(npp().even_bytes, shape, launch);
}

CudaStatus hist_npp(const StageCall<Device>& call, const RungLaunch& launch) {
  auto* counts = static_cast<Npp32s*>(launch.scratch);
  return status_of(npp().even(call.in.plane<Sample>(0).data, step_of(call.in.plane<Sample>(0)),
                              size_of(call.in.type), counts, kLevels, 0, kBins,
                              reinterpret_cast<Npp8u*>(counts + kBins), context_of(launch)));
}

CudaStatus smooth_npp(const StageCall<Device>& call, const RungLaunch& launch) {
  return status_of(npp().box(call.in.plane<Sample>(0).data, step_of(call.in.plane<Sample>(0)),
                             size_of(call.in.type), {0, 0}, call.out.plane<Sample>(0).data,
                             step_of(call.out.plane<Sample>(0)), size_of(call.in.type), {kTaps, kTaps},
                             {kRadius, kRadius}, NPP_BORDER_REPLICATE, context_of(launch)));
}

}  // namespace imgpipe

#else

namespace imgpipe {

const char* npp_missing() {
  return "this build has no NPP";
}
CudaStatus gray_npp(const StageCall<Device>&, const RungLaunch&) {
  return cudaErrorNotSupported;
}
std::size_t hist_npp_bytes(const FrameType&, const RungLaunch&) {
  return 0;
}
CudaStatus hist_npp(const StageCall<Device>&, const RungLaunch&) {
  return cudaErrorNotSupported;
}
CudaStatus smooth_npp(const StageCall<Device>&, const RungLaunch&) {
  return cudaErrorNotSupported;
}

}  // namespace imgpipe

#endif

#include "tests/support/cuda_variants.h"

#include "tests/support/cuda_backend.h"

#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <array>

#include <cuda_runtime.h>

#include "lab/pipeline/device_requirements.h"
#include "lab/pipeline/toolkit_library.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test {
namespace {

const NppLibrary& npp() {
  static const NppLibrary loaded;
  return loaded;
}

}  // namespace

std::string missing_on_cuda(const StageVariant& variant) {
  const std::string lacks = missing_device_feature(variant);
  return lacks.empty() && variant.needs_npp ? npp().missing() : lacks;
}

std::string run_variant_on_cuda(const StageVariant& variant, const StageCall<Host>& call, int block,
                                int blocks, std::int64_t scratch_bytes) {
  constexpr std::size_t kTail = 512;
  return run_on_cuda(
      [&](const StageCall<Device>& device, const CudaLaunch& launch) {
        VariantLaunch with_grid{launch, block, blocks};
        if (variant.needs_npp) with_grid.npp = npp().functions();
        std::size_t bytes = 0;
        if (variant.scratch_bytes != nullptr) bytes = variant.scratch_bytes(device.in.type, with_grid);
        DeviceBuffer scratch;
        scratch.reserve(bytes + kTail);
        IMGPIPE_CUDA(cudaMemset(scratch.data(), 0xCD, bytes + kTail));
        IMGPIPE_CUDA(cudaDeviceSynchronize());
        with_grid.scratch = scratch.data();
        IMGPIPE_CUDA(static_cast<cudaError_t>(launch_variant(variant, device, with_grid)));
        if (variant.collect != nullptr)
          IMGPIPE_CUDA(static_cast<cudaError_t>(variant.collect(device, with_grid)));
        IMGPIPE_CUDA(cudaStreamSynchronize(launch.stream));
        std::array<unsigned char, kTail> tail{};
        IMGPIPE_CUDA(cudaMemcpy(tail.data(), static_cast<unsigned char*>(scratch.data()) + bytes, kTail,
                                cudaMemcpyDeviceToHost));
        const bool untouched = std::ranges::all_of(tail, [](unsigned char byte) { return byte == 0xCD; });
        return std::string(untouched ? "" : "wrote beyond its scratch memory");
      },
      call, scratch_bytes);
}

}  // namespace imgpipe::test

#else

namespace imgpipe::test {

std::string missing_on_cuda(const StageVariant&) {
  return "this build has no CUDA";
}

std::string run_variant_on_cuda(const StageVariant&, const StageCall<Host>&, int, int, std::int64_t) {
  return "this build has no CUDA";
}

}  // namespace imgpipe::test

#endif

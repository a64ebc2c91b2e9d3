#include "lab/kernels/stage_variant.h"
#include "lab/pipeline/device_requirements.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe {
namespace {

int attribute(cudaDeviceAttr which) {
  int device = 0;
  IMGPIPE_CUDA(cudaGetDevice(&device));
  int value = 0;
  IMGPIPE_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

std::string missing_device_feature(const StageVariant& variant) {
  if (variant.capability > 0) {
    const int own =
        10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
    if (own < variant.capability)
      return "needs compute capability " + std::to_string(variant.capability / 10) + "." +
             std::to_string(variant.capability % 10);
  }
  if (variant.shared_bytes > attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))
    return "needs " + std::to_string(variant.shared_bytes / 1024) + " KiB of shared memory per block";
  return "";
}

}  // namespace imgpipe

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

std::string device_lacks(const Rung& rung) {
  if (rung.capability > 0) {
    const int own =
        10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
    if (own < rung.capability)
      return "needs compute capability " + std::to_string(rung.capability / 10) + "." +
             std::to_string(rung.capability % 10);
  }
  if (rung.shared_bytes > attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))
    return "needs " + std::to_string(rung.shared_bytes / 1024) + " KiB of shared memory per block";
  return "";
}

}  // namespace imgpipe

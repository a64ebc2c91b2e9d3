// The CUDA runtime, linked statically: the same program runs where there is no driver.
#include <cuda_runtime.h>

#include "images/text.h"
#include "pipeline/device.h"

namespace imgpipe {

bool built_with_cuda() {
  return true;
}

std::string cuda_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

CudaDevices list_cuda_devices() {
  CudaDevices found;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    const bool known = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
    found.unusable_reason =
        known ? "the driver is too old for CUDA " + cuda_version() : "there is no CUDA driver";
    return found;
  }
  if (status != cudaSuccess) {
    found.unusable_reason = cudaGetErrorString(status);
    return found;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    found.devices.push_back({i, printable(properties.name), properties.major, properties.minor,
                             static_cast<std::int64_t>(properties.totalGlobalMem),
                             properties.multiProcessorCount});
  }
  if (found.devices.empty()) found.unusable_reason = "there is no CUDA device";
  return found;
}

}  // namespace imgpipe

// In place of device_cuda.cpp in a build without the CUDA toolkit.
#include "pipeline/device.h"

namespace imgpipe {

bool built_with_cuda() {
  return false;
}

std::string cuda_version() {
  return "none";
}

CudaDevices list_cuda_devices() {
  return {{}, "this build has no CUDA"};
}

}  // namespace imgpipe

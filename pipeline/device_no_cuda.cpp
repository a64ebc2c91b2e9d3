// In place of device_cuda.cpp in a build without the CUDA toolkit.
#include "images/error.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"

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

std::unique_ptr<Engine> make_cuda_engine(int, int) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

}  // namespace imgpipe

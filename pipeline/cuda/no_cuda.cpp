// Replaces the other files of this directory in builds without the CUDA toolkit.
#include "images/error.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/lane.h"
#include "pipeline/result_memory.h"

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

std::unique_ptr<Engine> make_cuda_engine(int, int, std::int64_t) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

std::shared_ptr<std::pmr::memory_resource> make_lane_memory(std::int64_t) {
  return {std::pmr::new_delete_resource(), [](std::pmr::memory_resource*) {}};
}

void release_idle(std::pmr::memory_resource&) {}

std::vector<std::unique_ptr<Lane>> make_cuda_lanes(std::span<const int>, std::size_t,
                                                   const std::shared_ptr<std::pmr::memory_resource>&) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

std::unique_ptr<ResultMemory> make_result_memory(int) {
  throw Error(ErrorKind::device, "cuda cannot be used: this build has no CUDA");
}

}  // namespace imgpipe

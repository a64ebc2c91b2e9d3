// The memory and the devices of a batch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/cost_model.h"
#include "pipeline/device.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {

// Returns the memory for images, of which `jobs` are processed at a time: `limit` minus the memory that the
// program uses and `kept_bytes`, which the caller keeps for each image until the end. Without a limit (0),
// half of the available memory.
[[nodiscard]] std::int64_t memory_for_images(std::int64_t limit, int jobs, std::int64_t kept_bytes);

// Returns the indices of all usable CUDA devices; a warning names each skipped device. Throws Error(device).
[[nodiscard]] std::vector<int> every_cuda_device();

struct DeviceCosts {
  CostModel model;
  std::string source;  // a clause for the user: "as measured on this machine"
};

// Sets up a batch without pages for the chosen devices; jobs and memory must be set. For auto only, calls
// `costs`, from another thread. Returns the name of the host's processor if it processes images.
[[nodiscard]] std::vector<std::string> use_devices(
    BatchSettings& settings, const DeviceChoice& choice,
    const std::function<DeviceCosts(const CudaDevice&)>& costs);

}  // namespace imgpipe

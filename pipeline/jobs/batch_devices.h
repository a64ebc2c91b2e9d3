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

// Returns the memory for images, of which `jobs` are processed at a time: `limit` minus what the program uses
// and `kept_bytes`, which the caller keeps for each image until the end; without a limit (0), half of what is
// available.
[[nodiscard]] std::int64_t memory_for_images(std::int64_t limit, int jobs, std::int64_t kept_bytes);

// The indices of all usable CUDA devices; a warning names each skipped device. Throws Error(device).
[[nodiscard]] std::vector<int> every_cuda_device();

struct DeviceCosts {
  CostModel model;
  std::string source;  // a clause for the user: "as measured on this machine"
};

// Lets a batch without pages use the chosen devices; jobs and memory must be set. `costs` is called for auto
// only, from another thread. Returns the name of the host's processor if it processes images.
[[nodiscard]] std::vector<std::string> use_devices(
    BatchSettings& settings, const DeviceChoice& choice,
    const std::function<DeviceCosts(const CudaDevice&)>& costs);

}  // namespace imgpipe

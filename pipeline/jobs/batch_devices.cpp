#include "pipeline/jobs/batch_devices.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "images/error.h"
#include "images/memory/available_memory.h"
#include "images/unreachable.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {
namespace {

constexpr std::size_t kSlotsPerDevice = 4;
// Another device starts once each worker has waited this long because the lanes were full: about twice a
// device's start-up time.
constexpr std::chrono::milliseconds kLanePatience{500};
// Memory the program needs for its work in addition to images: code and tables used later, and for each
// worker its stack, its engine and malloc's reserve.
constexpr std::int64_t kWorkingBytes = std::int64_t{4} << 20;
constexpr std::int64_t kJobBytes = std::int64_t{1} << 20;
// Under a memory limit, deducts the memory that lanes keep for reuse from the memory for images.
void make_memory_for_lanes(BatchSettings& settings) {
  const std::int64_t kept = settings.memory_bytes / (settings.memory_is_limit ? 4 : 2);
  if (settings.memory_is_limit && built_with_cuda()) settings.memory_bytes -= kept;
  settings.lane_memory = make_lane_memory(kept);
}

LaneCapacity capacity_by_cost(int jobs, const std::shared_ptr<std::pmr::memory_resource>& memory,
                              const std::function<DeviceCosts(const CudaDevice&)>& costs) {
  LaneCapacity lane_capacity;
  const CudaDevices found = list_cuda_devices();
  const std::optional<CudaDevice> first = usable_device(found);
  if (!first) {
    lane_capacity.note = "auto chose cpu (" + why_no_device(found) + ")";
    return lane_capacity;
  }
  const auto [model, source] = costs(*first);
  if (!model.lane_pixels) {
    lane_capacity.note =
        "auto chose cpu (" + first->name + " is not faster for any image size; " + source + ")";
    return lane_capacity;
  }
  lane_capacity.lane_pixels = *model.lane_pixels;
  lane_capacity.lane_patience = kLanePatience;
  lane_capacity.lane_cost = model.lane;
  lane_capacity.lane_start_pixels = model.lane_start_pixels(jobs);
  std::vector<int> devices;
  for (const CudaDevice& device : found.devices) {
    if (can_run_on(device)) devices.push_back(device.index);
  }
  lane_capacity.lanes = make_cuda_lanes(devices, kSlotsPerDevice, memory);
  lane_capacity.note = "auto uses cuda for images of at least " + megapixels(lane_capacity.lane_pixels) +
                       " once " + megapixels(lane_capacity.lane_start_pixels) + " of them are waiting (" +
                       source + ")";
  return lane_capacity;
}

// auto: the workers process the images for which a device does not pay off.
void use_devices_by_cost(BatchSettings& settings,
                         const std::function<DeviceCosts(const CudaDevice&)>& costs) {
  settings.host_helps = true;
  make_memory_for_lanes(settings);
  settings.find_lanes = [jobs = settings.jobs, memory = settings.lane_memory, costs] {
    return capacity_by_cost(jobs, memory, costs);
  };
}

}  // namespace

std::int64_t memory_for_images(std::int64_t limit, int jobs, std::int64_t kept_bytes) {
  const std::int64_t later = kWorkingBytes + jobs * kJobBytes + kept_bytes;
  if (limit > 0) return std::max(limit - resident_bytes() - later, limit / 4);
  const std::int64_t available = available_memory_bytes();
  return std::max(available - later, available / 4) / 2;
}

std::vector<int> every_cuda_device() {
  const CudaDevices found = list_cuda_devices();
  if (found.devices.empty()) throw Error(ErrorKind::device, "cuda cannot be used: " + found.unusable_reason);
  std::vector<int> devices;
  for (const CudaDevice& device : found.devices) {
    if (can_run_on(device)) {
      devices.push_back(device.index);
    } else {
      warn_of_devices(why_too_old(device) + "; skipped");
    }
  }
  if (devices.empty()) throw Error(ErrorKind::device, "cuda cannot be used: " + why_no_device(found));
  return devices;
}

std::vector<std::string> use_devices(BatchSettings& settings, const DeviceChoice& choice,
                                     const std::function<DeviceCosts(const CudaDevice&)>& costs) {
  if (!choice.backend) {
    use_devices_by_cost(settings, costs);
    return {"cpu (" + host_info().processor + ")"};
  }
  switch (*choice.backend) {
    case Backend::cpu:
      return {"cpu (" + host_info().processor + ")"};
    case Backend::reference:
      settings.make_engine = make_reference_engine;
      return {"reference (" + host_info().processor + ")"};
    case Backend::cuda:
      make_memory_for_lanes(settings);
      settings.lanes_have_codecs = true;
      settings.find_lanes = [devices = choice.cuda_devices, memory = settings.lane_memory] {
        LaneCapacity lane_capacity;
        lane_capacity.lane_patience = kLanePatience;
        lane_capacity.lanes =
            make_cuda_lanes(devices.empty() ? every_cuda_device() : devices, kSlotsPerDevice, memory);
        return lane_capacity;
      };
      return {};
  }
  unreachable();
}

}  // namespace imgpipe

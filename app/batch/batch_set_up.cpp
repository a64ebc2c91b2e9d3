#include "app/batch/batch_set_up.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "app/batch/batch_totals.h"
#include "app/devices/calibration.h"
#include "app/image/image_set_up.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/memory/available_memory.h"
#include "pipeline/device.h"

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
// Memory kept per image until the end: its time or failure, and its name if --failed-out edits a list.
constexpr std::int64_t kImageBytes = sizeof(BatchFailure) + sizeof(double);
constexpr std::int64_t kNameBytes = 192;

// Returns the memory for images: the limit minus the program's own use, or half of what is available.
std::int64_t memory_for_images(std::int64_t limit, int jobs, std::int64_t kept_bytes) {
  const std::int64_t later = kWorkingBytes + jobs * kJobBytes + kept_bytes;
  if (limit > 0) return std::max(limit - resident_bytes() - later, limit / 4);
  const std::int64_t available = available_memory_bytes();
  return std::max(available - later, available / 4) / 2;
}

// Under a memory limit, deducts the memory that lanes keep for reuse from the memory for images.
void make_memory_for_lanes(BatchSettings& settings) {
  const std::int64_t kept = settings.memory_bytes / (settings.memory_is_limit ? 4 : 2);
  if (settings.memory_is_limit && built_with_cuda()) settings.memory_bytes -= kept;
  settings.lane_memory = make_lane_memory(kept);
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

LaneCapacity capacity_by_cost(int jobs, const std::shared_ptr<std::pmr::memory_resource>& memory) {
  LaneCapacity lane_capacity;
  const CudaDevices found = list_cuda_devices();
  const std::optional<CudaDevice> first = usable_device(found);
  if (!first) {
    lane_capacity.note = "auto chose cpu (" + why_no_device(found) + ")";
    return lane_capacity;
  }
  const Calibration calibration = load_calibration(*first);
  const std::string how = calibration.measured
                              ? "as measured on this machine"
                              : "not measured on this machine; run imgpipe devices --calibrate";
  if (!calibration.model.lane_pixels) {
    lane_capacity.note = "auto chose cpu (" + first->name + " is not faster for any image size; " + how + ")";
    return lane_capacity;
  }
  lane_capacity.lane_pixels = *calibration.model.lane_pixels;
  lane_capacity.lane_patience = kLanePatience;
  lane_capacity.lane_cost = calibration.model.lane;
  lane_capacity.lane_start_pixels = calibration.model.lane_start_pixels(jobs);
  std::vector<int> devices;
  for (const CudaDevice& device : found.devices) {
    if (can_run_on(device)) devices.push_back(device.index);
  }
  lane_capacity.lanes = make_cuda_lanes(devices, kSlotsPerDevice, memory);
  lane_capacity.note = "auto uses cuda for images of at least " + megapixels(lane_capacity.lane_pixels) +
                       " once " + megapixels(lane_capacity.lane_start_pixels) + " of them are waiting (" +
                       how + ")";
  return lane_capacity;
}

// auto: the workers process the images for which a device does not pay off.
void choose_by_cost(BatchSettings& settings, std::vector<std::string>& devices) {
  devices.push_back("cpu (" + host_info().processor + ")");
  settings.host_helps = true;
  make_memory_for_lanes(settings);
  settings.find_lanes = [jobs = settings.jobs, memory = settings.lane_memory] {
    return capacity_by_cost(jobs, memory);
  };
}

void choose_device_for_batch(BatchSettings& settings, const std::string& device,
                             std::vector<std::string>& devices) {
  const DeviceChoice choice = choose_device(device);
  if (!choice.backend) {
    choose_by_cost(settings, devices);
    return;
  }
  if (choice.backend != Backend::cuda) {
    if (choice.backend == Backend::reference) settings.make_engine = make_reference_engine;
    devices.push_back((choice.backend == Backend::cpu ? "cpu (" : "reference (") + host_info().processor +
                      ")");
    return;
  }
  make_memory_for_lanes(settings);
  settings.lanes_have_codecs = true;
  settings.find_lanes = [devices = choice.cuda_devices, memory = settings.lane_memory] {
    LaneCapacity lane_capacity;
    lane_capacity.lane_patience = kLanePatience;
    lane_capacity.lanes =
        make_cuda_lanes(devices.empty() ? every_cuda_device() : devices, kSlotsPerDevice, memory);
    return lane_capacity;
  };
}

// Each worker has its own engine, and with CUDA its own device.
void choose_device_for_pages(BatchSettings& settings, const ExecutionOptions& execution,
                             std::vector<std::string>& names) {
  const DeviceChoice choice = choose_device(execution.device);
  const int asked_jobs = execution.jobs;
  if (choice.backend != Backend::cuda) {
    if (!choice.backend) settings.device_note = "auto chose cpu (pages use cuda only with --device cuda)";
    choose_device_for_batch(settings, choice.backend == Backend::reference ? "reference" : "cpu", names);
    return;
  }
  const std::vector<int> devices = choice.cuda_devices.empty() ? every_cuda_device() : choice.cuda_devices;
  const auto most = static_cast<int>(devices.size());
  settings.jobs = asked_jobs > 0 ? std::min(asked_jobs, most) : most;
  if (asked_jobs > most)
    settings.device_note = "--jobs: " + std::to_string(asked_jobs) + " reduced to " +
                           std::to_string(settings.jobs) + "; with --pages each device has one worker";
  settings.make_engine = [devices, next = std::make_shared<std::atomic<std::size_t>>(0)](int threads) {
    return make_cuda_engine(devices[next->fetch_add(1) % devices.size()], threads);
  };
  for (const int index : devices) names.push_back("cuda:" + std::to_string(index));
}

}  // namespace

BatchSetUp set_up_batch(const ExecutionOptions& execution, ImageSettings image,
                        std::optional<PageRequest> pages, std::size_t images, bool keeps_names) {
  BatchSetUp set_up;
  BatchSettings& settings = set_up.settings;
  static_cast<ImageSettings&>(settings) = std::move(image);
  settings.threads = thread_count(execution);
  settings.jobs = execution.jobs > 0 ? execution.jobs : settings.threads;
  settings.memory_is_limit = execution.memory_bytes > 0;
  settings.memory_bytes =
      memory_for_images(execution.memory_bytes, settings.jobs,
                        static_cast<std::int64_t>(images) * (kImageBytes + (keeps_names ? kNameBytes : 0)));
  settings.fail_fast = execution.fail_fast;
  settings.pages = std::move(pages);
  if (settings.pages) {
    choose_device_for_pages(settings, execution, set_up.devices);
  } else {
    choose_device_for_batch(settings, execution.device, set_up.devices);
  }
  return set_up;
}

BatchSetUp set_up_batch(const ProcessOptions& options, std::size_t images) {
  const std::string& failed_file = options.reports.failed_file;
  const bool keeps_names =
      options.output.is_tensor ||
      (!failed_file.empty() && (options.shard || same_file(failed_file, options.input.files_from)));
  BatchSetUp set_up =
      set_up_batch(options.execution, image_settings(options), page_request(options), images, keeps_names);
  set_up.settings.keep_spans = !options.reports.trace_file.empty();
  return set_up;
}

BatchItems batch_items(const std::vector<BatchFile>& files) {
  return {files.size(), [&files](std::size_t i) {
            const BatchFile& file = files[i];
            const bool is_recorded = file.made_of != Provenance();
            return BatchItem{file.input, file.output, file.format,
                             is_recorded ? std::optional(file.made_of) : std::nullopt};
          }};
}

}  // namespace imgpipe

#include "app/batch/batch_set_up.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "app/batch/batch_totals.h"
#include "app/devices/calibration.h"
#include "app/image/image_set_up.h"
#include "app/image/image_settings.h"
#include "images/error.h"
#include "images/files/file.h"
#include "pipeline/device.h"
#include "pipeline/jobs/batch_devices.h"

namespace imgpipe {
namespace {

// Memory kept per image until the end: its time or failure, and its name if --failed-out edits a list.
constexpr std::int64_t kImageBytes = sizeof(BatchFailure) + sizeof(double);
constexpr std::int64_t kNameBytes = 192;

DeviceCosts calibrated_costs(const CudaDevice& device) {
  const Calibration calibration = load_calibration(device);
  return {calibration.model, calibration.measured
                                 ? "as measured on this machine"
                                 : "not measured on this machine; run imgpipe devices --calibrate"};
}

// Each worker has its own engine, and with CUDA its own device. `what` needs that: lanes take whole files and
// return one result.
void choose_device_without_lanes(BatchSettings& settings, const ExecutionOptions& execution,
                                 const std::string& what, std::vector<std::string>& names) {
  const DeviceChoice choice = choose_device(execution.device);
  const int asked_jobs = execution.jobs;
  if (choice.backend != Backend::cuda) {
    if (!choice.backend)
      settings.device_note = "auto chose cpu (" + what + " use cuda only with --device cuda)";
    names = use_devices(settings, choose_device(choice.backend == Backend::reference ? "reference" : "cpu"),
                        calibrated_costs);
    return;
  }
  const std::vector<int> devices = choice.cuda_devices.empty() ? every_cuda_device() : choice.cuda_devices;
  const auto most = static_cast<int>(devices.size());
  settings.jobs = asked_jobs > 0 ? std::min(asked_jobs, most) : most;
  if (asked_jobs > most)
    settings.device_note = "--jobs: " + std::to_string(asked_jobs) + " reduced to " +
                           std::to_string(settings.jobs) + "; with " + what + " each device has one worker";
  settings.engine_per_worker = true;
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
    choose_device_without_lanes(settings, execution, "pages", set_up.devices);
  } else if (!settings.also.empty()) {
    choose_device_without_lanes(settings, execution, "results of --also", set_up.devices);
  } else {
    set_up.devices = use_devices(settings, choose_device(execution.device), calibrated_costs);
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

BatchItems batch_items(const std::deque<BatchFile>& files) {
  return {files.size(), [&files](std::size_t i) {
            const BatchFile& file = files[i];
            const Provenance made_of = file.made_of();
            return BatchItem{.input = file.input,
                             .output = file.output,
                             .format = file.format,
                             .made_of = made_of == Provenance() ? std::nullopt : std::optional(made_of),
                             .also = file.also};
          }};
}

}  // namespace imgpipe

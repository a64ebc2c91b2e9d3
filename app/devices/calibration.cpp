#include "app/devices/calibration.h"

#include <algorithm>
#include <cstdlib>

#include "app/log.h"
#include "app/report/text_columns.h"
#include "app/version.h"
#include "images/error.h"
#include "images/simd.h"
#include "images/text.h"

namespace imgpipe {
namespace {

CalibrationKey key_of(const CudaDevice& device) {
  const HostInfo host = host_info();
  return {build_info().version, host.processor, simd_target(), host.threads, device.name};
}

}  // namespace

std::string calibration_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  // Relative paths must be ignored (XDG Base Directory Specification 0.8).
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/imgpipe/calibration.json";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/imgpipe/calibration.json";
  return "";
}

Calibration load_calibration(const CudaDevice& device) {
  const std::string path = calibration_file();
  CalibrationEntries found = read_calibration(path);
  Calibration calibration{default_cost_model(), false, key_of(device), found.entries.size(), ""};
  if (!found.note.empty()) calibration.note = printable(path) + ": " + found.note;
  for (const CalibrationEntry& entry : found.entries) {
    if (entry.key != calibration.key) continue;
    calibration.model = entry.model;
    calibration.measured = true;
  }
  return calibration;
}

Calibration calibrate(const CudaDevice& device, std::string& store_error) {
  const int index = device.index;
  const auto memory = make_lane_memory(std::int64_t{1} << 30);
  const auto lanes = make_cuda_lanes({&index, 1}, 1, memory);
  const CostModel model = measure_cost_model(*lanes.front(), *memory);
  const std::string path = calibration_file();
  if (path.empty()) {
    store_error = "neither XDG_CACHE_HOME nor HOME is set";
  } else if (!is_plausible(model)) {
    store_error = "the measured values are implausible";
  } else {
    try {
      store_calibration(path, {key_of(device), model});
    } catch (const Error& error) {
      store_error = path + ": " + error.what();
    }
  }
  Calibration calibration = load_calibration(device);
  calibration.model = model;
  calibration.measured = true;
  return calibration;
}

DeviceChoice choose_for_image(std::int64_t pixels, int threads, int passes) {
  // Listing devices takes tens of milliseconds if there are any.
  const auto pays = [&](const CostModel& model) { return model.single_image_pays(pixels, threads, passes); };
  if (built_with_cuda() && !pays(default_cost_model()) &&
      std::ranges::none_of(read_calibration(calibration_file()).entries, pays, &CalibrationEntry::model))
    return choose_without_devices();
  const CudaDevices found = list_cuda_devices();
  const std::optional<CudaDevice> device = usable_device(found);
  if (!device) return choose_by_cost(found, default_cost_model(), "", pixels, threads, passes);
  const Calibration calibration = load_calibration(*device);
  if (!calibration.note.empty()) log_detail(calibration.note);
  const std::string how = calibration.measured
                              ? "measured on this machine"
                              : "not measured on this machine; run imgpipe devices --calibrate";
  return choose_by_cost(found, calibration.model, how, pixels, threads, passes);
}

}  // namespace imgpipe

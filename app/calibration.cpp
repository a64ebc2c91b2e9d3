#include "app/calibration.h"

#include <cstdlib>
#include <filesystem>
#include <span>

#include <nlohmann/json.hpp>

#include "app/columns.h"
#include "app/version.h"
#include "images/error.h"
#include "images/file.h"
#include "images/output_file.h"
#include "images/simd.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostFileBytes = 1 << 20;

// What a measurement holds for.
Json key_of(const CudaDevice& device) {
  const HostInfo host = host_info();
  return {{"imgpipe", build_info().version},
          {"processor", host.processor},
          {"instructions", simd_target()},
          {"threads", host.threads},
          {"device", device.name}};
}

Json json_of(const LinearCost& cost) {
  return {{"ns_per_image", cost.ns_per_image}, {"ns_per_pixel", cost.ns_per_pixel}};
}

LinearCost cost_of(const Json& json) {
  return {json.at("ns_per_image").get<double>(), json.at("ns_per_pixel").get<double>()};
}

}  // namespace

std::string calibration_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  // A relative path there is to be ignored (XDG Base Directory Specification 0.8).
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/imgpipe/calibration.json";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/imgpipe/calibration.json";
  return "";
}

Calibration load_calibration(const CudaDevice& device) {
  try {
    const std::vector<std::byte> bytes = read_regular_file(calibration_file(), kMostFileBytes);
    const Json json = Json::parse(reinterpret_cast<const char*>(bytes.data()),
                                  reinterpret_cast<const char*>(bytes.data()) + bytes.size());
    if (json.at("key") == key_of(device)) {
      CostModel model{cost_of(json.at("host")), cost_of(json.at("with_lane")), cost_of(json.at("lane")),
                      json.at("lane_start_ns").get<double>(), std::nullopt};
      if (!json.at("lane_pixels").is_null()) model.lane_pixels = json.at("lane_pixels").get<std::int64_t>();
      return {model, true};
    }
  } catch (const Error&) {
    // Not there.
  } catch (const Json::exception&) {
    // Damaged, or of another version.
  }
  return {usual_cost_model(), false};
}

Calibration calibrate(const CudaDevice& device, std::string& not_kept) {
  const int index = device.index;
  const auto memory = make_lane_memory(std::int64_t{1} << 30);
  const auto lanes = make_cuda_lanes({&index, 1}, 1, memory);
  const Calibration calibration{measure_cost_model(*lanes.front(), *memory), true};
  const std::string path = calibration_file();
  if (path.empty()) {
    not_kept = "neither XDG_CACHE_HOME nor HOME is set";
    return calibration;
  }
  const Json json{
      {"key", key_of(device)},
      {"host", json_of(calibration.model.host)},
      {"with_lane", json_of(calibration.model.with_lane)},
      {"lane", json_of(calibration.model.lane)},
      {"lane_start_ns", calibration.model.lane_start_ns},
      {"lane_pixels", calibration.model.lane_pixels ? Json(*calibration.model.lane_pixels) : Json(nullptr)}};
  const std::string text = json.dump(2) + "\n";
  try {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    write_file(path, std::as_bytes(std::span(text)));
  } catch (const Error& error) {
    not_kept = path + ": " + error.what();
  }
  return calibration;
}

std::optional<CudaDevice> usable_device(const CudaDevices& found) {
  for (const CudaDevice& device : found.devices) {
    if (can_run_on(device)) return device;
  }
  return std::nullopt;
}

std::string why_no_device(const CudaDevices& found) {
  return found.devices.empty() ? found.unusable_reason : "the CUDA device is too old";
}

std::string megapixels(std::int64_t pixels) {
  return number(static_cast<double>(pixels) / 1e6, 2) + " MP";
}

DeviceChoice choose_for_image(const CudaDevices& found, std::int64_t pixels, int threads, int passes) {
  const std::optional<CudaDevice> device = usable_device(found);
  if (!device) return {DeviceKind::cpu, {}, "auto took cpu (" + why_no_device(found) + ")"};
  const Calibration calibration = load_calibration(*device);
  const std::string name = "cuda:" + std::to_string(device->index) + " (" + device->name + ")";
  const std::string how = calibration.measured ? "measured on this machine"
                                               : "not measured here, see imgpipe devices --calibrate";
  if (calibration.model.lane_pays_alone(pixels, threads, passes))
    return {DeviceKind::cuda, {device->index}, "auto took " + name + " (faster; " + how + ")"};
  return {DeviceKind::cpu, {}, "auto took cpu (starting " + name + " does not pay; " + how + ")"};
}

}  // namespace imgpipe

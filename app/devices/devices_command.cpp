#include "app/devices/devices_command.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/devices/calibration.h"
#include "app/exit_code.h"
#include "app/log.h"
#include "app/options/option_parser.h"
#include "app/print.h"
#include "app/report/json_head.h"
#include "app/report/text_columns.h"
#include "app/version.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::string gib(std::int64_t bytes) {
  if (bytes < (1 << 30)) return number(static_cast<double>(bytes) / (1 << 20), 0) + " MiB";
  return number(static_cast<double>(bytes) / (1 << 30), 1) + " GiB";
}

std::string counted(int count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

struct DevicesOptions {
  bool json = false;
  bool calibrate = false;
  LoggingOptions logging;
};

constexpr std::array<std::int64_t, 4> kSizes{1'000'000, 8'000'000, 48'000'000, kDefaultMaxPixels};

// What auto does on this machine.
struct Auto {
  std::optional<CudaDevice> device;
  std::string without;  // why there is no device
  Calibration calibration;
  int threads = 1;
};

Auto judge(const HostInfo& host, const CudaDevices& cuda, bool calibrate_now) {
  Auto judged;
  judged.device = usable_device(cuda);
  judged.threads = host.threads;
  if (!judged.device) {
    judged.without = why_no_device(cuda);
    if (calibrate_now)
      throw Error(ErrorKind::device, "--calibrate compares cpu with cuda: " + judged.without);
    return judged;
  }
  std::string not_kept;
  judged.calibration = calibrate_now ? calibrate(*judged.device, not_kept) : load_calibration(*judged.device);
  if (!not_kept.empty()) log_warning("the measurement is not kept: " + printable(not_kept));
  if (!judged.calibration.note.empty()) log_warning(judged.calibration.note);
  return judged;
}

// For one image by itself: the least of a few sizes that is faster on the device.
std::optional<std::int64_t> alone_from(const Auto& judged) {
  for (const std::int64_t pixels : kSizes) {
    if (judged.calibration.model.lane_pays_alone(pixels, judged.threads)) return pixels;
  }
  return std::nullopt;
}

// The entry of the file that is used.
std::string entry_text(const Calibration& calibration) {
  const CalibrationKey& key = calibration.key;
  return printable(calibration_file()) + ", the entry of " + printable(key.device) + " with " +
         std::to_string(key.threads) + " threads of " + printable(key.processor) + ", " + key.instructions +
         ", imgpipe " + key.version + " (" + std::to_string(calibration.entries) + " in the file)";
}

std::string auto_text(const Auto& judged) {
  if (!judged.device) return "auto:   cpu (" + judged.without + ")\n";
  const CostModel& model = judged.calibration.model;
  const std::optional<std::int64_t> least = model.lane_pixels;
  const std::optional<std::int64_t> alone = alone_from(judged);
  std::string out =
      "auto:   one image: " + (alone ? "cuda from about " + megapixels(*alone) + " on" : std::string("cpu")) +
      "; starting cuda takes " + number(model.lane_start_ns / 1e6, 0) + " ms\n";
  if (least) {
    out += "        a batch: cuda for images of at least " + megapixels(*least) + ", once " +
           megapixels(model.lane_start_pixels(judged.threads)) + " of them are to come\n";
  } else {
    out += "        a batch: cpu\n";
  }
  out += "        a worker spends " + number(model.host.ns_per_pixel, 2) + " ns a pixel without cuda, " +
         number(model.with_lane.ns_per_pixel, 2) + " with it, and cuda " +
         number(model.lane.ns_per_pixel, 3) + " ns and " + number(model.lane.ns_per_image / 1e3, 0) +
         " us an image\n";
  return out + "        " +
         (judged.calibration.measured ? "measured on this machine: " + entry_text(judged.calibration)
                                      : "not measured here yet: imgpipe devices --calibrate") +
         "\n";
}

nlohmann::ordered_json auto_json(const Auto& judged) {
  nlohmann::ordered_json json;
  json["measured"] = judged.device && judged.calibration.measured;
  if (!judged.device) {
    json["why_no_cuda"] = judged.without;
    return json;
  }
  const CalibrationKey& key = judged.calibration.key;
  json["calibration"] = {{"file", printable(calibration_file())},
                         {"entries", judged.calibration.entries},
                         {"device", printable(key.device)},
                         {"processor", printable(key.processor)},
                         {"instructions", key.instructions},
                         {"threads", key.threads},
                         {"imgpipe", key.version}};
  const CostModel& model = judged.calibration.model;
  const auto optional = [](const std::optional<std::int64_t>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  json["cuda_alone_from_pixels"] = optional(alone_from(judged));
  json["cuda_in_batches_from_pixels"] = optional(model.lane_pixels);
  json["cuda_starts_for_pixels"] = model.lane_start_pixels(judged.threads);
  json["cuda_start_ms"] = model.lane_start_ns / 1e6;
  const std::pair<const char*, LinearCost> costs[] = {
      {"worker", model.host}, {"worker_with_cuda", model.with_lane}, {"cuda", model.lane}};
  for (const auto& [name, cost] : costs)
    json[name] = {{"ns_per_image", cost.ns_per_image}, {"ns_per_pixel", cost.ns_per_pixel}};
  return json;
}

std::string devices_json(const HostInfo& host, const CudaDevices& cuda, const Auto& judged) {
  nlohmann::ordered_json json{{"imgpipe", build_info().version}};
  const bool with_cuda = judged.device.has_value();
  add_run_head(json, kDevicesSchema, {.threads = host.threads, .device = with_cuda ? "cuda" : "cpu"});
  json["cpu"] = {{"name", host.processor},
                 {"threads", host.threads},
                 {"memory_bytes", host.memory_bytes},
                 {"available_bytes", host.available_bytes}};
  json["cpu"]["processor_limits"] = nlohmann::ordered_json::array();
  for (const ProcessorLimit& limit : host.processor_limits)
    json["cpu"]["processor_limits"].push_back({{"source", limit.source}, {"processors", limit.processors}});
  json["cpu"]["memory_limits"] = nlohmann::ordered_json::array();
  for (const MemoryBound& bound : host.memory_bounds) {
    json["cpu"]["memory_limits"].push_back({{"source", bound.source},
                                            {"limit_bytes", bound.limit_bytes},
                                            {"available_bytes", bound.available_bytes}});
  }
  json["cuda"] = {{"runtime", cuda_version()}, {"devices", nlohmann::ordered_json::array()}};
  json["cuda"]["unusable_reason"] = cuda.unusable_reason.empty()
                                        ? nlohmann::ordered_json(nullptr)
                                        : nlohmann::ordered_json(cuda.unusable_reason);
  for (const CudaDevice& device : cuda.devices) {
    json["cuda"]["devices"].push_back(
        {{"index", device.index},
         {"name", device.name},
         {"compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
         {"memory_bytes", device.memory_bytes},
         {"multiprocessors", device.multiprocessors}});
  }
  json["auto"] = auto_json(judged);
  return json.dump(2) + "\n";
}

// Which limit holds, where it is not simply the machine's size.
std::string limits_text(const HostInfo& host) {
  std::string out;
  const ProcessorLimit& processors = host.processor_limits.front();
  if (processors.source != kTheMachine) {
    out += "        " + counted(host.threads, "thread") + " by " + processors.source + ": " +
           number(processors.processors, 2) + " processors\n";
  }
  if (!host.memory_bounds.empty() && host.memory_bounds.front().source != kTheMachine) {
    const MemoryBound& memory = host.memory_bounds.front();
    out += "        memory by " + memory.source + ": " + gib(memory.available_bytes) + " of " +
           gib(memory.limit_bytes) + " available\n";
  }
  return out;
}

std::string devices_table(const HostInfo& host, const CudaDevices& cuda, const Auto& judged) {
  std::string out = "cpu:    " + host.processor + ", " + counted(host.threads, "thread") + ", " +
                    gib(host.memory_bytes) + " (" + gib(host.available_bytes) + " available)\n" +
                    limits_text(host);
  for (const CudaDevice& device : cuda.devices) {
    out += "cuda:" + std::to_string(device.index) + "  " + device.name + ", compute capability " +
           std::to_string(device.major) + "." + std::to_string(device.minor) + ", " +
           std::to_string(device.multiprocessors) + " multiprocessors, " + gib(device.memory_bytes) + "\n";
  }
  if (cuda.devices.empty()) out += "cuda:   none: " + cuda.unusable_reason + "\n";
  return out + auto_text(judged);
}

// All of them, of which the table shows those that hold.
void say_limits(const HostInfo& host) {
  for (const ProcessorLimit& limit : host.processor_limits)
    log_detail("processors by " + limit.source + ": " + number(limit.processors, 2));
  for (const MemoryBound& bound : host.memory_bounds)
    log_detail("memory by " + bound.source + ": " + gib(bound.available_bytes) + " of " +
               gib(bound.limit_bytes) + " available");
}

int run_devices(const DevicesOptions& options) {
  const HostInfo host = host_info();
  const CudaDevices cuda = list_cuda_devices();
  say_limits(host);
  const Auto judged = judge(host, cuda, options.calibrate);
  if (options.json) {
    print_text(devices_json(host, cuda, judged));
  } else if (!options.logging.quiet) {
    print_table(devices_table(host, cuda, judged), false);
  }
  return kExitDone;
}

std::vector<OptionRow> devices_rows() {
  std::vector<OptionRow> rows{
      {"Output", "json", nullptr, nullptr, "As JSON"},
      {"Output", "calibrate", nullptr, nullptr,
       "Measure anew from which size on auto takes the GPU, and keep it in the user's cache folder"}};
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace

CommandRow devices_command() {
  return {.name = "devices",
          .summary = "what this machine offers",
          .description = "Lists what this machine offers and what --device auto would pick.",
          .usage = {{"imgpipe devices [--json]", ""}},
          .rows = devices_rows,
          .exits = {kExitDone, kExitUsage, kExitDevice, kExitOutput, kExitSignalBase},
          .read = [](const Parser& parser) {
            return ready(DevicesOptions{parser.has("json"), parser.has("calibrate"), read_logging(parser)},
                         run_devices);
          }};
}

}  // namespace imgpipe

#include "app/devices/devices_report.h"

#include <array>
#include <utility>

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/text_columns.h"
#include "images/codecs/codec.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::array<std::int64_t, 4> kSizes{1'000'000, 8'000'000, 48'000'000, kDefaultMaxPixels};

// Returns the smallest of a few sizes from which a single image is faster on the device.
std::optional<std::int64_t> smallest_single_image(const AutoChoice& judged) {
  for (const std::int64_t pixels : kSizes) {
    if (judged.calibration.model.single_image_pays(pixels, judged.threads)) return pixels;
  }
  return std::nullopt;
}

std::string entry_text(const Calibration& calibration) {
  const CalibrationKey& key = calibration.key;
  return printable(calibration_file()) + ", the entry of " + printable(key.device) + " with " +
         std::to_string(key.threads) + " threads of " + printable(key.processor) + ", " + key.instructions +
         ", imgpipe " + key.version + " (" + std::to_string(calibration.entries) + " in the file)";
}

std::string auto_text(const AutoChoice& judged) {
  if (!judged.device) return "auto:   cpu (" + judged.without + ")\n";
  const CostModel& model = judged.calibration.model;
  const std::optional<std::int64_t> least = model.lane_pixels;
  const std::optional<std::int64_t> alone = smallest_single_image(judged);
  std::string out =
      "auto:   one image: " + (alone ? "cuda from about " + megapixels(*alone) : std::string("cpu")) +
      "; starting cuda takes " + number(model.lane_start_ns / 1e6, 0) + " ms\n";
  if (least) {
    out += "        a batch: cuda for images of at least " + megapixels(*least) + " once " +
           megapixels(model.lane_start_pixels(judged.threads)) + " of them are waiting\n";
  } else {
    out += "        a batch: cpu\n";
  }
  out += "        per pixel: worker " + number(model.host.ns_per_pixel, 2) + " ns without cuda, " +
         number(model.with_lane.ns_per_pixel, 2) + " ns with cuda; cuda " +
         number(model.lane.ns_per_pixel, 3) + " ns plus " + number(model.lane.ns_per_image / 1e3, 0) +
         " us per image\n";
  return out + "        " +
         (judged.calibration.measured ? "measured on this machine: " + entry_text(judged.calibration)
                                      : "not measured on this machine; run imgpipe devices --calibrate") +
         "\n";
}

// ---- JSON ------------------------------------------------------------------------------------------------

void add_cpu(Fields& fields, const HostInfo& host) {
  fields.add("name", host.processor);
  fields.add("threads", host.threads, kFromOne);
  fields.add("memory_bytes", host.memory_bytes);
  fields.add("available_bytes", host.available_bytes);
  fields.list("processor_limits", host.processor_limits, [](Fields& each, const ProcessorLimit& limit) {
    each.add("source", limit.source);
    each.add("processors", limit.processors);
  });
  fields.list("memory_limits", host.memory_bounds, [](Fields& each, const MemoryBound& bound) {
    each.add("source", bound.source);
    each.add("limit_bytes", bound.limit_bytes);
    each.add("available_bytes", bound.available_bytes);
  });
}

void add_cuda(Fields& fields, const CudaDevices& cuda) {
  fields.add("runtime", cuda_version());
  fields.list("devices", cuda.devices, [](Fields& each, const CudaDevice& device) {
    each.add("index", device.index);
    each.add("name", device.name);
    each.add("compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor));
    each.add("memory_bytes", device.memory_bytes);
    each.add("multiprocessors", device.multiprocessors, kFromOne);
  });
  fields.add("unusable_reason", given(cuda.unusable_reason));
}

void add_auto(Fields& fields, const AutoChoice& judged) {
  const CalibrationKey& key = judged.calibration.key;
  const CostModel& model = judged.calibration.model;
  fields.add("measured", judged.calibration.measured);
  fields.object("calibration", [&](Fields& calibration) {
    calibration.add("file", printable(calibration_file()));
    calibration.add("entries", judged.calibration.entries);
    calibration.add("device", printable(key.device));
    calibration.add("processor", printable(key.processor));
    calibration.add("instructions", key.instructions);
    calibration.add("threads", key.threads, kFromOne);
    calibration.add("imgpipe", key.version);
  });
  fields.add("cuda_alone_from_pixels", smallest_single_image(judged));
  fields.add("cuda_in_batches_from_pixels", model.lane_pixels);
  fields.add("cuda_starts_for_pixels", model.lane_start_pixels(judged.threads));
  fields.add("cuda_start_ms", model.lane_start_ns / 1e6, kAnyNumber);
  const std::pair<const char*, LinearCost> costs[] = {
      {"worker", model.host}, {"worker_with_cuda", model.with_lane}, {"cuda", model.lane}};
  for (const auto& [name, cost] : costs) {
    fields.object(name, [&each = cost](Fields& ns) {
      ns.add("ns_per_image", each.ns_per_image, kAnyNumber);
      ns.add("ns_per_pixel", each.ns_per_pixel, kAnyNumber);
    });
  }
}

void add_machine(Fields& fields, const Machine& machine) {
  const AutoChoice& judged = machine.judged;
  add_version(fields);
  add_run_head(fields, kDevicesSchema, RunHead(machine.host.threads), judged.device ? "cuda" : "cpu");
  fields.object("cpu", [&](Fields& cpu) { add_cpu(cpu, machine.host); });
  fields.object("cuda", [&](Fields& cuda) { add_cuda(cuda, machine.cuda); });
  const auto add_without_cuda = [&](Fields& without) {
    without.fixed("measured", false);
    without.add("why_no_cuda", judged.without);
  };
  fields.either(!judged.device, "auto", add_without_cuda, [&](Fields& with) { add_auto(with, judged); });
}

// ---- the table -------------------------------------------------------------------------------------------

// Names the effective limits, unless they are simply the size of the machine.
std::string limits_text(const HostInfo& host) {
  std::string out;
  const ProcessorLimit& processors = host.processor_limits.front();
  if (processors.source != kMachineSource) {
    out += "        " + counted(static_cast<std::uint64_t>(host.threads), "thread") + " by " +
           processors.source + ": " + number(processors.processors, 2) + " processors\n";
  }
  if (!host.memory_bounds.empty() && host.memory_bounds.front().source != kMachineSource) {
    const MemoryBound& memory = host.memory_bounds.front();
    out += "        memory limit of " + memory.source + ": " + gib(memory.available_bytes) + " of " +
           gib(memory.limit_bytes) + " available\n";
  }
  return out;
}

}  // namespace

std::string gib(std::int64_t bytes) {
  if (bytes < (1 << 30)) return number(static_cast<double>(bytes) / (1 << 20), 0) + " MiB";
  return number(static_cast<double>(bytes) / (1 << 30), 1) + " GiB";
}

std::string devices_table(const Machine& machine) {
  const HostInfo& host = machine.host;
  const CudaDevices& cuda = machine.cuda;
  std::string out =
      "cpu:    " + host.processor + ", " + counted(static_cast<std::uint64_t>(host.threads), "thread") +
      ", " + gib(host.memory_bytes) + " (" + gib(host.available_bytes) + " available)\n" + limits_text(host);
  for (const CudaDevice& device : cuda.devices) {
    out += "cuda:" + std::to_string(device.index) + "  " + device.name + ", compute capability " +
           std::to_string(device.major) + "." + std::to_string(device.minor) + ", " +
           std::to_string(device.multiprocessors) + " multiprocessors, " + gib(device.memory_bytes) + "\n";
  }
  if (cuda.devices.empty()) out += "cuda:   none: " + cuda.unusable_reason + "\n";
  return out + auto_text(machine.judged);
}

std::string devices_json(const Machine& machine) {
  return fields_of([&](Fields& fields) { add_machine(fields, machine); }).text();
}

std::string devices_schema() {
  return schema_text(kDevicesSchema, "What a machine offers: imgpipe devices --json",
                     [](Fields& fields) { add_machine(fields, {}); });
}

}  // namespace imgpipe

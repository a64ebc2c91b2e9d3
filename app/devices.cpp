#include <cstdio>

#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/exit_code.h"

namespace imgpipe {
namespace {

std::string gib(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

std::string choice_name(const DeviceChoice& choice) {
  if (choice.kind == DeviceKind::cuda) return "cuda:" + std::to_string(choice.cuda_index);
  return choice.kind == DeviceKind::cpu ? "cpu" : "reference";
}

std::string devices_json(const HostInfo& host, const CudaDevices& cuda, const DeviceChoice& choice) {
  nlohmann::ordered_json json;
  json["cpu"] = {{"name", host.processor},
                 {"threads", host.threads},
                 {"memory_bytes", host.memory_bytes},
                 {"available_bytes", host.available_bytes}};
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
  json["auto"] = {{"device", choice_name(choice)}, {"why", choice.why}};
  return json.dump(2) + "\n";
}

std::string devices_table(const HostInfo& host, const CudaDevices& cuda, const DeviceChoice& choice) {
  std::string out = "cpu:    " + host.processor + ", " + std::to_string(host.threads) + " threads, " +
                    gib(host.memory_bytes) + " (" + gib(host.available_bytes) + " available)\n";
  for (const CudaDevice& device : cuda.devices) {
    out += "cuda:" + std::to_string(device.index) + "  " + device.name + ", compute capability " +
           std::to_string(device.major) + "." + std::to_string(device.minor) + ", " +
           std::to_string(device.multiprocessors) + " multiprocessors, " + gib(device.memory_bytes) + "\n";
  }
  if (cuda.devices.empty()) out += "cuda:   none: " + cuda.unusable_reason + "\n";
  return out + "auto:   " + choice.why + "\n";
}

}  // namespace

int run_devices(const DevicesOptions& options) {
  const HostInfo host = host_info();
  const CudaDevices cuda = list_cuda_devices();
  const DeviceChoice choice = choose_device("auto");
  print_text(options.json ? devices_json(host, cuda, choice) : devices_table(host, cuda, choice));
  return kExitDone;
}

}  // namespace imgpipe

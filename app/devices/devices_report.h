// The devices of this machine: a table for people, JSON for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/devices/calibration.h"
#include "pipeline/device.h"

namespace imgpipe {

// The choices of auto on this machine.
struct AutoChoice {
  std::optional<CudaDevice> device;
  std::string without;  // why no device is used
  Calibration calibration;
  int threads = 1;
};

struct Machine {
  HostInfo host;
  CudaDevices cuda;
  AutoChoice judged;
};

[[nodiscard]] std::string devices_table(const Machine& machine);
[[nodiscard]] std::string devices_json(const Machine& machine);
[[nodiscard]] std::string devices_schema();

// "1.5 GiB"
[[nodiscard]] std::string gib(std::int64_t bytes);

}  // namespace imgpipe

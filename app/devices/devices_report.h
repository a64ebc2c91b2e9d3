// What this machine offers: a table for people, JSON for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/devices/calibration.h"
#include "pipeline/device.h"

namespace imgpipe {

// What auto does on this machine.
struct Auto {
  std::optional<CudaDevice> device;
  std::string without;  // why there is no device
  Calibration calibration;
  int threads = 1;
};

struct Machine {
  HostInfo host;
  CudaDevices cuda;
  Auto judged;
};

[[nodiscard]] std::string devices_table(const Machine& machine);
[[nodiscard]] std::string devices_json(const Machine& machine);
[[nodiscard]] std::string devices_schema();

// "1.5 GiB"
[[nodiscard]] std::string gib(std::int64_t bytes);

}  // namespace imgpipe

// Chooses a device for `auto`, and makes the engine for a choice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pipeline/cost_model.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"

namespace imgpipe {

// Returns the first device that this build has code for: the one that auto may use.
[[nodiscard]] std::optional<CudaDevice> usable_device(const CudaDevices& found);
// The reason why usable_device() returns none.
[[nodiscard]] std::string why_no_device(const CudaDevices& found);

// Returns auto's choice for an image too small for any device, so that no devices need be listed.
[[nodiscard]] DeviceChoice choose_without_devices();

// Returns auto's choice for a single image of `pixels` pixels: the usable device of `found` if it pays off
// according to `model`, else the CPU. `how`: the source of the model, for the user.
[[nodiscard]] DeviceChoice choose_by_cost(const CudaDevices& found, const CostModel& model,
                                          const std::string& how, std::int64_t pixels, int threads,
                                          int passes);

// Makes the engine for a choice of device, with `threads` host threads. Tests pass a factory that fails.
using EngineFactory = std::function<std::unique_ptr<Engine>(const DeviceChoice&, int threads)>;
// `choice.backend` must be set. Throws as make_*_engine() does.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const DeviceChoice& choice, int threads);

}  // namespace imgpipe

// From the device that was asked for to the engine that does the work.
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

// The device that auto may use: the first that there is code for.
[[nodiscard]] std::optional<CudaDevice> usable_device(const CudaDevices& found);
// Why there is none.
[[nodiscard]] std::string why_no_device(const CudaDevices& found);

// What auto takes for an image that no device pays for, so that it looks for none.
[[nodiscard]] DeviceChoice choose_without_devices();

// What auto takes for one image of so many pixels by itself, and why: the usable device of `found` where
// `model` says that it pays. `how`: where the model comes from, for the user.
[[nodiscard]] DeviceChoice choose_by_cost(const CudaDevices& found, const CostModel& model,
                                          const std::string& how, std::int64_t pixels, int threads,
                                          int passes);

// Makes the engine for a choice of device, with so many threads of the host; tests pass one that fails.
using EngineFactory = std::function<std::unique_ptr<Engine>(const DeviceChoice&, int threads)>;
// The engine of a choice that is not `automatic`. Throws what the engine's maker does.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const DeviceChoice& choice, int threads);

}  // namespace imgpipe

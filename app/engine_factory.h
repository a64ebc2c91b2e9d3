// What makes engines for a command.
#pragma once

#include <functional>
#include <memory>

#include "pipeline/device.h"
#include "pipeline/engine.h"

namespace imgpipe {

// Makes the engine for a choice of device, with so many threads of the host; tests pass one that fails.
using EngineFactory = std::function<std::unique_ptr<Engine>(const DeviceChoice&, int threads)>;

}  // namespace imgpipe

// One input.
#pragma once

#include "app/engine_factory.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Throws Error or returns an exit code.
[[nodiscard]] int run_image(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

// One input, in the calling thread: an image, or its pages.
#pragma once

#include "app/engine_factory.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Throws Error or returns an exit code, as run_image() does.
[[nodiscard]] int run_input(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

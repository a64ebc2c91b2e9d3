// One input, in the calling thread: an image, or its pages.
#pragma once

#include "app/process_options/process_options.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// Throws Error or returns an exit code, as run_image() does.
[[nodiscard]] int run_input(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

// Runs one input, an image or its pages, in the calling thread.
#pragma once

#include "app/process_options/process_options.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// Throws Error or returns an exit code, like run_image().
[[nodiscard]] int run_input(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

// Batches of inputs: directories, patterns and lists (app/jobs/batch_files.h).
#pragma once

#include "app/process_options/process_options.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// Throws Error or returns an exit code. Only a batch reported as an image uses `factory` (one_input.h).
[[nodiscard]] int run_batch(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

// A batch: directories, patterns, lists (app/jobs/batch_files.h).
#pragma once

#include "app/process_options/process_options.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// Throws Error or returns an exit code. `factory`: of a batch that is reported as an image
// (app/image/one_input.h).
[[nodiscard]] int run_batch(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

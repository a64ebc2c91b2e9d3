// Decides whether a run is a batch, and runs a single input.
#pragma once

#include "app/process_options/process_options.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// Returns true if INPUT stands for many images: a directory, a pattern that is not the name of a file
// (app/jobs/glob.h), several inputs, or a list. Also true for one image into a directory with a batch option:
// a shell pattern may match a single file.
[[nodiscard]] bool is_batch(const ProcessOptions& options);

// For a batch of one image: returns true if a report or result that only a single image can have is
// requested, and no report with one line per image.
[[nodiscard]] bool is_reported_as_image(const ProcessOptions& options);

// If OUTPUT is a directory, replaces it with the path of the file in it. The directory need not exist yet if
// OUTPUT ends with a slash or --name is given. Throws Error(usage) for stdin without --name, and if OUTPUT
// must be a directory but is a file.
[[nodiscard]] ProcessOptions with_output_file(ProcessOptions options);

// For --stack: finds the inputs, and resolves OUTPUT like with_output_file(). Throws Error(usage) and
// Error(input) like a batch's search, and Error(usage) for a directory as OUTPUT of several inputs.
[[nodiscard]] ProcessOptions with_stack_inputs(ProcessOptions options);

// Runs an input that is not a batch. Throws Error or returns an exit code.
[[nodiscard]] int run_image(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

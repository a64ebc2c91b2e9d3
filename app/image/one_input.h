// Whether a run is a batch, and one that is not.
#pragma once

#include "app/process_options/process_options.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// True when INPUT stands for many images: a directory, a pattern (app/jobs/glob.h; in a name that is not a
// file), several inputs, or a list. True too for one image into a directory where an option of batches is on
// the command line, as a shell pattern that matches a single file gives it.
[[nodiscard]] bool is_batch(const ProcessOptions& options);

// Of a batch of one image: true where the image's own report, or something else that only one image has, is
// requested, and no lines of a batch are.
[[nodiscard]] bool is_reported_as_image(const ProcessOptions& options);

// One image into a directory, which exists, or is made where it ends with a slash or --name is given: OUTPUT
// becomes the file in it. Throws Error(usage) for stdin, which has no name, unless --name makes one, and
// where the directory is a file.
[[nodiscard]] ProcessOptions with_output_file(ProcessOptions options);

// Of a run that is not a batch. Throws Error or returns an exit code.
[[nodiscard]] int run_image(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

// Inputs and outputs of runs that process the images in archives.
#pragma once

#include <string>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Returns true if the INPUTs are archives: by name, or, if INPUT and OUTPUT are standard streams, because
// standard input begins with one. Throws Error(usage) if only some INPUTs are archives.
[[nodiscard]] bool takes_archives(const ProcessOptions& options);

// Finds the archives and determines their outputs: OUTPUT itself for one archive, otherwise OUTPUT/STEM.tar,
// with --recursive in the same subdirectory as the input. Throws Error(usage) for options that archives do
// not support, and throws like find_batch_files().
[[nodiscard]] BatchFiles find_archives(const ProcessOptions& options);

// Returns true if the output is a single file or a stream, not a directory.
[[nodiscard]] bool makes_one_archive(const ProcessOptions& options);

}  // namespace imgpipe

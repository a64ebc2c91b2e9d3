// A batch before it runs: checks, and what --dry-run prints.
#pragma once

#include "app/batch/batch_totals.h"
#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Throws Error(usage) for options that a batch does not support.
void check_batch_options(const ProcessOptions& options);

// Throws Error(usage) if the format of an output cannot hold the results.
void check_output_formats(const ProcessOptions& options, const BatchFiles& files);

// Prints a line for each file, and their number. Does not access devices.
void print_dry_run(const ProcessOptions& options, const BatchFiles& files, const BatchTotals& totals);

}  // namespace imgpipe

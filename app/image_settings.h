// What the command line means for each image: the same for one and for many.
#pragma once

#include <cstdint>
#include <string>

#include "app/process_options/process_options.h"
#include "pipeline/jobs/image_job.h"

namespace imgpipe {

// What an output may replace.
[[nodiscard]] Replace replace_output(const ProcessOptions& options);

// The hash of an input's name relative to INPUT, for Provenance.
[[nodiscard]] std::uint64_t name_hash(const std::string& name);

// Outputs are put in place only where that still replaces what it may (app/files/replaceable.h).
[[nodiscard]] ImageSettings image_settings(const ProcessOptions& options);

// The input and the output of a run that is no batch; `name` is the input's in messages.
[[nodiscard]] ImageFiles image_files(const ProcessOptions& options, std::string name);

// --threads, or as many as there are.
[[nodiscard]] int thread_count(const ExecutionOptions& execution);

}  // namespace imgpipe

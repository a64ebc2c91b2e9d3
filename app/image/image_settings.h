// Image settings from the options of the main command.
#pragma once

#include "app/files/replaceable.h"
#include "app/process_options/process_options.h"
#include "pipeline/jobs/image_job.h"

namespace imgpipe {

// Whether the run's outputs may replace existing files.
[[nodiscard]] Replace replace_output(const ProcessOptions& options);

// With these settings, each write checks again that the output may replace an existing file
// (app/files/replaceable.h).
[[nodiscard]] ImageSettings image_settings(const ProcessOptions& options);

}  // namespace imgpipe

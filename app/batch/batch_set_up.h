// The settings of a batch by the command line: memory, threads, devices.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {

struct BatchSetUp {
  BatchSettings settings;
  std::vector<std::string> devices;  // what works besides lanes, for people
};

// For so many images. Throws Error(usage) for a device that does not exist by its name. Touches no device:
// BatchSettings::find_lanes does.
[[nodiscard]] BatchSetUp set_up_batch(const ProcessOptions& options, std::size_t images);
// The same for any command. `pages`: of each input; `keeps_names`: the names of the inputs are kept in memory
// until the end.
[[nodiscard]] BatchSetUp set_up_batch(const ExecutionOptions& execution, ImageSettings image,
                                      std::optional<PageRequest> pages, std::size_t images,
                                      bool keeps_names = false);

// The inputs of a batch; `files` stay where they are. One without an output is only read.
[[nodiscard]] BatchItems batch_items(const std::vector<BatchFile>& files);

}  // namespace imgpipe

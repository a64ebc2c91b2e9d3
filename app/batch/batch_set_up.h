// The settings of a batch from the command line: memory, threads, devices.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {

struct BatchSetUp {
  BatchSettings settings;
  std::vector<std::string> devices;  // names of the devices other than lanes, for people
};

// Returns the settings for a number of images. Throws Error(usage) if the device's name is unknown. Does not
// access devices: BatchSettings::find_lanes does that.
[[nodiscard]] BatchSetUp set_up_batch(const ProcessOptions& options, std::size_t images);
// The same for any command. `pages` applies to each input. `keeps_names`: reserves memory for the inputs'
// names, which are kept until the end.
[[nodiscard]] BatchSetUp set_up_batch(const ExecutionOptions& execution, ImageSettings image,
                                      std::optional<PageRequest> pages, std::size_t images,
                                      bool keeps_names = false);

// Returns the inputs of a batch; `files` must outlive the result. A file without provenance is only read.
[[nodiscard]] BatchItems batch_items(const std::deque<BatchFile>& files);

}  // namespace imgpipe

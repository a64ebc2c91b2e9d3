// Messages about the search for inputs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/files/name_template.h"
#include "app/jobs/batch_files.h"

namespace imgpipe {

// "in: no images found; skipped files: 3 others (see --include)", followed by hints.
[[nodiscard]] std::string nothing_found_text(const InputOptions& input, const BatchFiles& found);
// Logs the files that were found but are not processed, and the replaced results. `name` is the template of
// output names.
void log_search(const BatchFiles& found, const std::optional<NameTemplate>& name = {});
// Logs one line if the run replaces results that were made with other options.
void log_replaced(std::size_t results);

}  // namespace imgpipe

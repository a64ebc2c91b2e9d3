// What is reported of a search for images.
#pragma once

#include <optional>
#include <string>

#include "app/batch/batch_files.h"
#include "app/files/name_template.h"

namespace imgpipe {

// "in: no images found; passed over: 3 others (see --include)", and what would find more.
[[nodiscard]] std::string nothing_found_text(const InputOptions& input, const BatchFiles& found);
// Lines about everything that was found and is not processed, and about results that are replaced. `name`:
// that of outputs.
void log_search(const BatchFiles& found, const std::optional<NameTemplate>& name = {});

}  // namespace imgpipe

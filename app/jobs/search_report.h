// Messages about a search for images.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/files/name_template.h"
#include "app/jobs/batch_files.h"

namespace imgpipe {

// "in: no images found; passed over: 3 others (see --include)", and what would find more.
[[nodiscard]] std::string nothing_found_text(const InputOptions& input, const BatchFiles& found);
// Lines about everything that was found and is not processed, and about results that are replaced. `name`:
// the template of the outputs' names.
void log_search(const BatchFiles& found, const std::optional<NameTemplate>& name = {});
// One line about results that a run replaces though they were made with other options; nothing for none.
void log_replaced(std::size_t results);

}  // namespace imgpipe

// What is reported of a search for images.
#pragma once

#include <cstddef>
#include <string>

#include "app/jobs/batch_files.h"

namespace imgpipe {

// "in: no images found; passed over: 3 others (see --include)", and what would find more.
[[nodiscard]] std::string nothing_found_text(const InputOptions& input, const BatchFiles& found);
// Lines about everything that was found and is not processed, and about results that are replaced.
// `left_out`: a line about results among the inputs; empty: there are none.
void log_search(const BatchFiles& found, const std::string& left_out = "");
// One line about results that a run replaces though they were made with other options; nothing for none.
void log_replaced(std::size_t results);

}  // namespace imgpipe

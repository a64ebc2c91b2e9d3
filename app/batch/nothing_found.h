// What is said where there is nothing to look at.
#pragma once

#include <string>

#include "app/batch/batch_files.h"

namespace imgpipe {

// "in: no images found; passed over: 3 others (see --include)", and what would find more.
[[nodiscard]] std::string nothing_found_text(const InputOptions& input, const BatchFiles& found);

}  // namespace imgpipe

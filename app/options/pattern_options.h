// Test images: what --pattern and --size take.
#pragma once

#include <string>
#include <vector>

#include "images/plane.h"

namespace imgpipe {

// Every pattern there is, as --help says it; as completions begin it.
[[nodiscard]] std::string pattern_help();
[[nodiscard]] std::vector<std::string> pattern_values();
// "640x480": both at least 1, at most 2^31-1. Throws Error(usage).
[[nodiscard]] Shape parse_size(const std::string& text);

}  // namespace imgpipe

// Sizes for people.
#pragma once

#include <cstdint>
#include <string>

namespace imgpipe {

// "812 bytes", "54.3 kB", "2419.2 MB": by powers of 1,000.
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

}  // namespace imgpipe

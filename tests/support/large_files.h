// Files of any size, and of every kind that readers treat differently.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "images/plane.h"

namespace imgpipe::test {

// `kind` is one of large_file_kinds(), with the extension of its format: "turned.jpg".
[[nodiscard]] std::vector<std::byte> large_file(std::string_view kind, ConstHostPlane rgb);
[[nodiscard]] std::vector<std::string> large_file_kinds();

}  // namespace imgpipe::test

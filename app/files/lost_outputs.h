// Outputs that were written and are not there any more.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace imgpipe {

// Which of the paths name nothing, in order. A folder of many of them is read instead of looking at each: on
// a file system of another machine each look may be a message there and back.
[[nodiscard]] std::vector<std::size_t> missing_files(const std::vector<std::string>& paths);

}  // namespace imgpipe

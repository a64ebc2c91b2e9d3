// Detects outputs that were written but no longer exist.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace imgpipe {

// The reason for an image that was done but whose output is gone.
inline constexpr const char* kLostReason = "was written, but another process removed it during the batch";

// Returns the indices of paths that do not exist, in order. Lists a directory that contains many of the paths
// instead of checking each path: on a network file system every check may be a round trip.
[[nodiscard]] std::vector<std::size_t> missing_files(const std::vector<std::string>& paths);

}  // namespace imgpipe

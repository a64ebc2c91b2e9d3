// Finds the files that a pattern given as INPUT matches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/log_line.h"

namespace imgpipe {

struct PathProblem {
  std::string path;
  std::string reason;

  [[nodiscard]] std::string text() const;  // "PATH: reason"
  [[nodiscard]] LogSubject subject() const;
  bool operator==(const PathProblem&) const = default;
};

struct PathsFound {
  std::vector<std::string> paths;     // sorted, without duplicates
  std::vector<PathProblem> problems;  // unreadable directories
};

// Returns true if the text contains wildcards: * ? [...] or {a,b}.
[[nodiscard]] bool is_pattern(const std::string& text);

// Returns the files and directories that match a pattern (app/jobs/glob.h), relative if the pattern is.
// Hidden names match only if the pattern's name begins with a dot. ** does not follow linked directories, so
// that it ends. Throws Error(usage) for a pattern that is too long.
using DirectoryPredicate = std::function<bool(const std::string& directory)>;
[[nodiscard]] PathsFound paths_matching(const std::string& pattern, const DirectoryPredicate& skipped_inputs);

}  // namespace imgpipe

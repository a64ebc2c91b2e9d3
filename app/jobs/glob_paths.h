// What a pattern given as INPUT takes from the disk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/log_line.h"

namespace imgpipe {

// What is wrong with a path, for people.
struct PathProblem {
  std::string path;
  std::string reason;

  [[nodiscard]] std::string text() const;  // "PATH: reason"
  [[nodiscard]] LogSubject subject() const;
  bool operator==(const PathProblem&) const = default;
};

struct PathsFound {
  std::vector<std::string> paths;     // sorted, each once
  std::vector<PathProblem> problems;  // folders that cannot be read
};

// True for a text that holds wildcards: * ? [...] or {a,b}.
[[nodiscard]] bool is_pattern(const std::string& text);

// The files and folders that a pattern names (app/jobs/glob.h has the dialect), relative as it is. Hidden
// names are taken only where the pattern's name begins with a dot. ** does not follow linked folders, so that
// it ends. Throws Error(usage) for a pattern that is too long.
using FolderTest = std::function<bool(const std::string& folder)>;
[[nodiscard]] PathsFound paths_like(const std::string& pattern, const FolderTest& passed_over);

}  // namespace imgpipe

// Walks directory trees of any depth.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace imgpipe {

// Identifies a file or directory of the system.
using FileId = std::pair<dev_t, ino_t>;

struct DirectoryEntry {
  std::string name;
  std::optional<FileId> directory;  // set for a directory, also for a link to one
  bool is_link = false;
};

// Returns the entries of a directory except "." and "..", sorted by name. If it cannot be read, sets `error`
// and returns none. Throws std::bad_alloc if memory is short.
[[nodiscard]] std::vector<DirectoryEntry> read_directory(const std::string& path, std::error_code& error);

// A position of the walk: one file or directory, by three paths.
struct WalkPosition {
  std::string path;   // on disk
  std::string below;  // relative to the start of the walk
  std::string tree;   // relative to OUTPUT

  [[nodiscard]] WalkPosition at(const std::string& name) const;
};

struct WalkSteps {
  std::function<void(const WalkPosition& file)> take;
  // Returns true to enter a directory; called for every directory except the top. The callback must detect
  // loops of links.
  std::function<bool(const WalkPosition& directory, const FileId& id)> enters;
  std::function<void(const WalkPosition& directory, const std::error_code& error)> cannot_read;
  std::function<void(const WalkPosition& file)> count_hidden = [](const WalkPosition&) {};
};

// Visits everything in `top` that is not hidden, in order of names and depth first. Keeps no directory open,
// and its stack use does not depend on the depth.
void walk_directories(const WalkPosition& top, const WalkSteps& steps);

}  // namespace imgpipe

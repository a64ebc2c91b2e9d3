// Walks through folders that lie in one another, however deep.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace imgpipe {

// Which file or folder of the system it is.
using FileId = std::pair<dev_t, ino_t>;

struct FolderEntry {
  std::string name;
  std::optional<FileId> folder;  // set for a folder, also one that a link leads to
  bool is_link = false;
};

// What a folder holds but for "." and "..", sorted by name. Nothing where it cannot be read: `error` says
// why. Throws std::bad_alloc where the system has no memory for it.
[[nodiscard]] std::vector<FolderEntry> read_folder(const std::string& path, std::error_code& error);

// Where a walk is.
struct Spot {
  std::string path;   // on disk
  std::string below;  // where the walk began
  std::string tree;   // below OUTPUT

  [[nodiscard]] Spot at(const std::string& name) const;
};

struct WalkSteps {
  std::function<void(const Spot& file)> take;
  // Whether to go into a folder. It is asked of all but the first; links lead in circles unless it keeps
  // count.
  std::function<bool(const Spot& folder, const FileId& id)> enters;
  std::function<void(const Spot& folder, const std::error_code& error)> cannot_read;
  std::function<void(const Spot& file)> pass_hidden = [](const Spot&) {};
};

// Comes to all that is not hidden in the folder `top`, in the order of the names, each folder with all below
// it before the next name. It holds no folder open on its way, and no more of the stack for one that is
// deeper.
void walk_folders(const Spot& top, const WalkSteps& steps);

}  // namespace imgpipe

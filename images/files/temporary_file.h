// The files that outputs are written to before they take their places: ".NAME.imgpipe-XXXXXXXX", in the same
// folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <sys/types.h>

#include "images/files/output_sync.h"

namespace imgpipe {

// One of them. It is locked (flock) until it is in place, so that other runs know that its writer lives. Only
// its owner can open it (0600) until it is complete. The destructor removes a file that was not put in place.
class TemporaryFile {
 public:
  // Creates it next to `target`, which gets these permissions; nullopt: those of new files. Throws
  // Error(output).
  explicit TemporaryFile(const std::filesystem::path& target, std::optional<mode_t> mode = std::nullopt);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] int descriptor() const noexcept;
  // Syncs its bytes (images/files/output_sync.h), closes it and renames it to the target; once. The new name
  // is for the caller to sync. Throws Error(output).
  void put_in_place(const OutputSync* sync = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Unlinks the temporary files that are being written. Async-signal-safe: call it from a signal handler
// that ends the process.
void remove_temporary_files() noexcept;

// Unlinks the temporary files that are being written, so that none comes to its place any more; a thread that
// would make another one then waits for ever, but for the calling one. For the last act of a process whose
// other threads are still at work, before it ends by _exit.
void end_all_writing() noexcept;

// The temporary files that were in a folder at one time, for removing those that killed processes have left
// behind. A writer holds a lock on its temporary file while it lives, so that those of other processes at
// work stay.
class StaleTemporaryFiles {
 public:
  explicit StaleTemporaryFiles(const std::string& folder);
  // Unlinks those for the targets `names` (file names without a folder). Returns how many were unlinked; what
  // cannot be is left.
  std::size_t remove(const std::unordered_set<std::string>& names) const;

 private:
  std::unordered_multimap<std::string, std::filesystem::path> files_;  // by their NAME
};
// The same in one step.
std::size_t remove_stale_temporary_files(const std::string& folder,
                                         const std::unordered_set<std::string>& names);

// The same for one target after another; each directory is read once.
class StaleOutputs {
 public:
  std::size_t remove(const std::string& target);

 private:
  std::map<std::string, StaleTemporaryFiles> of_directories_;
};

}  // namespace imgpipe

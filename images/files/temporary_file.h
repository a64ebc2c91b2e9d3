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

// Removes temporary files that killed processes have left behind. A writer holds a lock on its temporary file
// while it lives, so that those of other processes at work stay.
class StaleOutputs {
 public:
  // Unlinks those for `target`. Returns how many were unlinked; what cannot be is left. Each directory is
  // read once.
  std::size_t remove(const std::string& target);

 private:
  using FilesByName = std::unordered_multimap<std::string, std::filesystem::path>;  // by their NAME
  std::map<std::string, FilesByName> of_directories_;
};

}  // namespace imgpipe

// Temporary files that outputs are written to, ".NAME.imgpipe-XXXXXXXX" in the output's directory.
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

// A temporary file. It stays locked (flock) until it is renamed, so that other runs know its writer is alive.
// Only its owner can open it (0600) until it is complete. The destructor removes it unless renamed.
class TemporaryFile {
 public:
  // Creates it next to `target`. `mode`: final permissions; default: as for new files. Throws Error(output).
  explicit TemporaryFile(const std::filesystem::path& target, std::optional<mode_t> mode = std::nullopt);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] int descriptor() const noexcept;
  // Syncs the bytes (images/files/output_sync.h), closes the file and renames it to the target; call it once.
  // The caller must sync the new name. Throws Error(output).
  void put_in_place(const OutputSync* sync = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Unlinks all unfinished temporary files. Async-signal-safe: for signal handlers that end the process.
void remove_temporary_files() noexcept;

// Unlinks all unfinished temporary files, so that none can be renamed; other threads that create one
// afterwards block forever. Must be the last action of a process before _exit while other threads still work.
void block_new_outputs() noexcept;

// Lets a forked process create temporary files, whatever the parent's other threads were doing. For the
// handler of pthread_atfork(3).
void unblock_new_outputs() noexcept;

// Removes the temporary files of killed processes. Writers that are alive hold locks, so their files stay.
class StaleTemporaryFiles {
 public:
  // Unlinks the stale files for `target`; returns how many were unlinked. Reads each directory once.
  std::size_t remove(const std::string& target);

 private:
  using FilesByName = std::unordered_multimap<std::string, std::filesystem::path>;  // key: NAME
  std::map<std::string, FilesByName> of_directories_;
};

}  // namespace imgpipe

// Durability: whether outputs survive a power failure.
#pragma once

#include <filesystem>
#include <mutex>
#include <set>
#include <string>

namespace imgpipe {

// What a run does so that its outputs survive a power failure: the thread that writes an output syncs its
// bytes before the output gets its name (fdatasync), and the run syncs the directories of the names once,
// before it reports success (fsync). Thread-safe.
//
// Functions that write take a pointer to one; with a null pointer they sync the name at once as well.
class OutputSync {
 public:
  // `is_on` false: nothing is synced, the file system decides what survives.
  explicit OutputSync(bool is_on = true) : is_on_(is_on) {}

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  // The file or directory `path`, which is not a symbolic link, is new in its directory.
  void add_name(const std::filesystem::path& path);
  // Syncs the directories of all names since the last call. Throws Error(output) with the directory.
  void sync_names();

 private:
  const bool is_on_;
  std::mutex mutex_;
  std::set<std::string> directories_;
};

// Writes the bytes of an open file to the disk. File systems that cannot sync are no error. Throws
// Error(output).
void sync_data(int fd, const OutputSync* sync);
// Adds a new name to `sync`, or syncs its directory where that is null. Throws Error(output).
void add_name(const std::filesystem::path& path, OutputSync* sync);

}  // namespace imgpipe

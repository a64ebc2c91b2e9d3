// Makes outputs survive a power failure.
#pragma once

#include <filesystem>
#include <mutex>
#include <set>
#include <string>

namespace imgpipe {

// Syncs the outputs of a run. The writing thread syncs each output's bytes before the rename (fdatasync); the
// run syncs the directories once before it reports success (fsync). Thread-safe.
//
// Writing functions take a pointer to it; with a null pointer they also sync the directory at once.
class OutputSync {
 public:
  // `is_on` false: syncs nothing and leaves durability to the file system.
  explicit OutputSync(bool is_on = true) : is_on_(is_on) {}

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  // Records that `path`, a file or directory and not a symbolic link, is new in its directory.
  void add_name(const std::filesystem::path& path);
  // Syncs the directories recorded since the last call. Throws Error(output) with the directory.
  void sync_names();

 private:
  const bool is_on_;
  std::mutex mutex_;
  std::set<std::string> directories_;
};

// Writes the bytes of an open file to disk, if the file system can sync. Throws Error(output).
void sync_data(int fd, const OutputSync* sync);
// Records a new name in `sync`, or syncs its directory if `sync` is null. Throws Error(output).
void add_name(const std::filesystem::path& path, OutputSync* sync);

}  // namespace imgpipe

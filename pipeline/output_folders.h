// The folders that a batch writes to, made when the first file of each is written.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_set>

#include "images/error.h"

namespace imgpipe {

class OutputFolders {
 public:
  // Makes the folder and those above it, unless it was made or seen before. Thread-safe. Throws
  // Error(output).
  void make(const std::filesystem::path& folder) {
    const std::lock_guard lock(mutex_);
    if (folder.empty() || made_.contains(folder.string())) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw Error(ErrorKind::output, "cannot make the folder: " + error.message());
    made_.insert(folder.string());
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> made_;
};

}  // namespace imgpipe

// The folders that a batch writes to, made when the first file of each is written.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_set>

#include "images/files/output_file.h"

namespace imgpipe {

class OutputFolders {
 public:
  // Makes the folder and those above it, unless it was made or seen before. Thread-safe. Throws
  // Error(output).
  void make(const std::filesystem::path& folder) {
    const std::lock_guard lock(mutex_);
    if (folder.empty() || made_.contains(folder.string())) return;
    make_folder(folder);
    made_.insert(folder.string());
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> made_;
};

}  // namespace imgpipe

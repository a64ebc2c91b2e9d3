// The directories of a batch's outputs, each created before its first file is written.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_set>

#include "images/files/output_file.h"

namespace imgpipe {

class OutputFolders {
 public:
  // Creates the directory and its parents unless created or seen before. Thread-safe. Throws Error(output).
  void make(const std::filesystem::path& folder, OutputSync* sync) {
    const std::lock_guard lock(mutex_);
    if (folder.empty() || made_.contains(folder.string())) return;
    make_folder(folder, sync);
    made_.insert(folder.string());
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> made_;
};

}  // namespace imgpipe

// The directories of a batch's outputs, each created before its first file is written.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_set>

#include "images/files/output_file.h"

namespace imgpipe {

class OutputDirectories {
 public:
  // Creates the directory and its parents unless created or seen before. Thread-safe. Throws Error(output).
  void make(const std::filesystem::path& directory, OutputSync* sync) {
    const std::lock_guard lock(mutex_);
    if (directory.empty() || made_.contains(directory.string())) return;
    make_directory(directory, sync);
    made_.insert(directory.string());
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> made_;
};

}  // namespace imgpipe

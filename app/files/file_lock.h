// File locks between processes.
#pragma once

#include <chrono>

namespace imgpipe {

// An exclusive lock (flock) on an open file, also released when its process ends. On a file system without
// locks it is neither held nor busy.
class FileLock {
 public:
  // Waits at most `patience` for another holder, so that a stopped process does not block all others.
  FileLock(int fd, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] bool is_held() const { return is_held_; }
  // True if another process still holds it.
  [[nodiscard]] bool is_busy() const { return is_busy_; }

 private:
  int fd_;
  bool is_held_ = false, is_busy_ = false;
};

}  // namespace imgpipe

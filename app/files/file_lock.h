// Locks of files among processes.
#pragma once

#include <chrono>

namespace imgpipe {

// An exclusive lock (flock) of an open file, which the end of its process gives back too. Where the file
// system has no locks it is neither held nor busy.
class FileLock {
 public:
  // Waits at most so long for a process that holds it: one that was stopped shall not stop all the others.
  FileLock(int fd, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] bool is_held() const { return is_held_; }
  // Another process still holds it.
  [[nodiscard]] bool is_busy() const { return is_busy_; }

 private:
  int fd_;
  bool is_held_ = false, is_busy_ = false;
};

}  // namespace imgpipe

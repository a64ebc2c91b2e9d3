#include "app/files/file_lock.h"

#include <cerrno>
#include <thread>

#include <sys/file.h>

namespace imgpipe {

FileLock::FileLock(int fd, std::chrono::milliseconds patience) : fd_(fd) {
  constexpr std::chrono::milliseconds kPause{5};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    is_busy_ = errno == EWOULDBLOCK;
    if (!is_busy_ || std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(kPause);
  }
  is_held_ = true;
  is_busy_ = false;
}

FileLock::~FileLock() {
  if (is_held_) ::flock(fd_, LOCK_UN);
}

}  // namespace imgpipe

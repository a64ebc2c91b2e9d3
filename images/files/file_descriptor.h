// An open file descriptor, and texts for its errors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace imgpipe {

// Returns the system's text for an error number, without the shared buffer of strerror.
[[nodiscard]] inline std::string system_reason(int error) {
  return std::generic_category().message(error);
}

// Returns whether the open file has been unlinked.
[[nodiscard]] inline bool is_removed(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_nlink == 0;
}

// Writes all bytes, at the offset `at` or, without one, at the current position. Returns the number written;
// if it is less than all, errno is set.
[[nodiscard]] std::size_t write_fully(int fd, std::span<const std::byte> bytes,
                                      std::optional<off_t> at = std::nullopt);

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  // Closes now, because close(2) reports failures of earlier writes (NFS, quotas).
  int close_now() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

}  // namespace imgpipe

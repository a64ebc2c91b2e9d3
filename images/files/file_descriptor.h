// An open descriptor, and the system's words for what went wrong with it: shared by reading and writing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace imgpipe {

// The system's own words for an error number, without touching the shared buffer of strerror.
[[nodiscard]] inline std::string system_reason(int error) {
  return std::generic_category().message(error);
}

// Whether a file that is open has no name any more.
[[nodiscard]] inline bool is_removed(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_nlink == 0;
}

// Writes all of it, from `at` on or, where there is none, where the descriptor stands. Returns how many bytes
// were written: fewer than all with errno set.
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
  // close(2) reports what earlier writes could not (NFS, quotas).
  int close_now() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

}  // namespace imgpipe

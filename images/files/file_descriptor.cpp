#include "images/files/file_descriptor.h"

#include <cerrno>

namespace imgpipe {

std::size_t write_fully(int fd, std::span<const std::byte> bytes, std::optional<off_t> at) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::span<const std::byte> left = bytes.subspan(done);
    const ssize_t written = at ? ::pwrite(fd, left.data(), left.size(), *at + static_cast<off_t>(done))
                               : ::write(fd, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  return done;
}

}  // namespace imgpipe

#include "app/line_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

[[noreturn]] void refuse(const std::string& path, int error) {
  throw Error(ErrorKind::output,
              printable(path) + ": cannot write: " + std::generic_category().message(error));
}

}  // namespace

LineFile::LineFile(std::string path, std::size_t kept_bytes) : path_(std::move(path)) {
  const int emptied = kept_bytes == 0 ? O_TRUNC : 0;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | emptied | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd_ < 0) refuse(path_, errno);
  if (kept_bytes == 0) return;
  const auto end = static_cast<off_t>(kept_bytes);
  if (::ftruncate(fd_, end) == 0 && ::lseek(fd_, end, SEEK_SET) == end) return;
  const int error = errno;
  ::close(fd_);
  refuse(path_, error);
}

LineFile::~LineFile() {
  if (fd_ >= 0) ::close(fd_);
}

void LineFile::add(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= kBufferBytes) flush();
}

void LineFile::flush() {
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse(path_, written < 0 ? errno : EIO);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  waiting_.clear();
}

void LineFile::close() {
  flush();
  if (::close(std::exchange(fd_, -1)) != 0) refuse(path_, errno);
}

}  // namespace imgpipe

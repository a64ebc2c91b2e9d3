#include "images/files/file.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/file_descriptor.h"

namespace imgpipe {
namespace {

// Returns the status of an open descriptor.
struct stat opened(const FileDescriptor& file) {
  if (file.get() < 0) throw Error(ErrorKind::input, "cannot open: " + system_reason(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
  return info;
}

// The number of bytes that may be read from a file; decreases as its beginning becomes known.
class LengthLimit {
 public:
  LengthLimit(std::int64_t max_bytes, const FileLengthLimiter& judge)
      : max_bytes_(max_bytes), bytes_(max_bytes), judge_(judge) {}

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  // Throws Error(input) if `length` exceeds the limit.
  void check(std::int64_t length) const {
    if (length <= bytes_) return;
    const std::string more = "more than " + std::to_string(bytes_) + " bytes";
    throw Error(ErrorKind::input,
                bytes_ < max_bytes_
                    ? "too long: " + more + ", the limit for an image of the size in its header"
                    : "too large: " + more + "; raise --max-pixels");
  }

  void ask(std::span<const std::byte> beginning) {
    if (judge_) bytes_ = std::min(judge_(beginning), max_bytes_);
  }

 private:
  std::int64_t max_bytes_, bytes_;
  const FileLengthLimiter& judge_;
};

// Bytes of standard input that were read only to look at them.
std::vector<std::byte> peeked_input;

std::size_t read_some(const FileDescriptor& file, std::span<std::byte> buffer) {
  if (file.get() == STDIN_FILENO && !peeked_input.empty()) {
    const auto end =
        peeked_input.begin() + static_cast<std::ptrdiff_t>(std::min(buffer.size(), peeked_input.size()));
    std::copy(peeked_input.begin(), end, buffer.begin());
    const auto got = static_cast<std::size_t>(end - peeked_input.begin());
    peeked_input.erase(peeked_input.begin(), end);
    return got;
  }
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), std::min(buffer.size(), std::size_t{1} << 30));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
  }
}

// Appends the rest of the source to `bytes`. `size`: the file size, -1 if unknown.
std::vector<std::byte> read_on(const ByteSource& source, std::vector<std::byte> bytes, std::int64_t size,
                               LengthLimit limit) {
  constexpr std::size_t kFirstBytes = std::size_t{1} << 16;
  limit.check(size);
  // One byte more than the file's size, so that reading detects the end without growing the buffer.
  const auto next_room = [&](std::size_t capacity) {
    if (size >= static_cast<std::int64_t>(capacity) && size <= limit.bytes())
      return static_cast<std::size_t>(size) + 1;
    return std::min(2 * capacity, static_cast<std::size_t>(limit.bytes()) + 1);
  };
  try {
    std::size_t filled = bytes.size();
    std::size_t capacity =
        size >= 0 ? std::min(static_cast<std::size_t>(size) + 1, kFirstBytes) : kFirstBytes;
    capacity = std::max(capacity, filled + 1);
    for (;;) {
      bytes.resize(capacity);
      const std::size_t got = source(std::span(bytes).subspan(filled));
      if (got == 0) break;
      filled += got;
      if (filled < capacity) continue;
      if (filled >= kFirstBytes) limit.ask(bytes);
      limit.check(static_cast<std::int64_t>(filled));
      capacity = next_room(capacity);
    }
    limit.check(static_cast<std::int64_t>(filled));
    bytes.resize(filled);
    return bytes;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory to read the file");
  }
}

std::vector<std::byte> read_to_end(const FileDescriptor& file, const struct stat& info, LengthLimit limit) {
  const std::int64_t size = S_ISREG(info.st_mode) ? std::int64_t{info.st_size} : -1;
  return read_on([&](std::span<std::byte> buffer) { return read_some(file, buffer); }, {}, size, limit);
}

// Opens a file that can be read to its end.
std::shared_ptr<const FileDescriptor> open_to_read(const std::string& path, struct stat& info) {
  const bool standard = path == kStandardStream;
  auto file = std::make_shared<const FileDescriptor>(
      standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  info = opened(*file);
  if (S_ISDIR(info.st_mode)) throw Error(ErrorKind::input, "is a directory");
  if (!standard && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)))
    throw Error(ErrorKind::input, "is a device, not a file");
  return file;
}

}  // namespace

std::vector<std::byte> peek_standard_input(std::size_t bytes) {
  const ByteSource source = open_source(kStandardStream);
  std::vector<std::byte> head(bytes);
  std::size_t filled = 0;
  for (std::size_t got = 1; got > 0 && filled < bytes; filled += got)
    got = source(std::span(head).subspan(filled));
  head.resize(filled);
  peeked_input.insert(peeked_input.begin(), head.begin(), head.end());
  return head;
}

bool wait_for_standard_input(std::chrono::milliseconds patience) {
  struct pollfd input {
    STDIN_FILENO, POLLIN, 0
  };
  return !peeked_input.empty() || ::poll(&input, 1, static_cast<int>(patience.count())) > 0;
}

ByteSource open_source(const std::string& path) {
  struct stat info {};
  return [file = open_to_read(path, info)](std::span<std::byte> buffer) { return read_some(*file, buffer); };
}

std::vector<std::byte> read_to_end(const ByteSource& source, std::vector<std::byte> beginning,
                                   std::int64_t max_bytes, const FileLengthLimiter& judge) {
  return read_on(source, std::move(beginning), -1, {max_bytes, judge});
}

std::vector<std::byte> read_file(const std::string& path, std::int64_t max_bytes,
                                 const FileLengthLimiter& judge) {
  struct stat info {};
  const auto file = open_to_read(path, info);
  return read_to_end(*file, info, {max_bytes, judge});
}

std::vector<std::byte> read_regular_file(const std::string& path, std::int64_t max_bytes,
                                         const FileLengthLimiter& judge) {
  // O_NONBLOCK: opening a FIFO would wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  const struct stat info = opened(file);
  if (!S_ISREG(info.st_mode)) throw Error(ErrorKind::input, "not a regular file");
  return read_to_end(file, info, {max_bytes, judge});
}

std::vector<std::byte> read_head(const std::string& path, std::size_t bytes) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::vector<std::byte> head(bytes);
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = ::read(file.get(), head.data() + filled, bytes - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  head.resize(filled);
  return head;
}

std::int64_t file_size_bytes(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace imgpipe

#include "app/update/stamp_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/files/file_lock.h"
#include "app/files/lost_outputs.h"
#include "app/shard/shard.h"
#include "images/error.h"
#include "images/files/file_descriptor.h"
#include "images/files/file_identity.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::chrono::seconds kLockPatience{30};  // another process may be reading a large file
constexpr std::size_t kMinLines = 256;             // fewer are not worth compacting

struct Line {
  std::int64_t at = 0;
  std::string_view text;  // without its newline
};

// Reads a file line by line. Skips lines that are much longer than a stamp, and text after the last newline.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  std::optional<Line> next() {
    for (;;) {
      const std::size_t end = buffer_.find('\n', begin_);
      if (end != std::string::npos) {
        const Line line{at_ + static_cast<std::int64_t>(begin_),
                        std::string_view(buffer_).substr(begin_, end - begin_)};
        begin_ = end + 1;
        if (std::exchange(in_long_line_, false)) continue;
        return line;
      }
      if (!read_more()) return std::nullopt;
    }
  }

 private:
  bool read_more() {
    at_ += static_cast<std::int64_t>(begin_);
    buffer_.erase(0, std::exchange(begin_, 0));
    if (buffer_.size() > static_cast<std::size_t>(kMaxStampBytes)) {
      in_long_line_ = true;
      at_ += static_cast<std::int64_t>(buffer_.size());
      buffer_.clear();
    }
    const std::size_t held = buffer_.size();
    buffer_.resize(held + kBlockBytes);
    const ssize_t got = ::pread(fd_, buffer_.data() + held, kBlockBytes, at_ + static_cast<off_t>(held));
    buffer_.resize(held + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return got > 0;
  }

  int fd_;
  std::string buffer_;
  std::int64_t at_ = 0;    // offset of the buffer in the file
  std::size_t begin_ = 0;  // start of the unread part of the buffer
  bool in_long_line_ = false;
};

struct LatestLine {
  std::int64_t at = 0;
  std::int64_t bytes = 0;  // including its newline
};

std::string text_at(int fd, const LatestLine& line) {
  std::string text(static_cast<std::size_t>(line.bytes), '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), line.at);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

// Removes the lines of outputs that no longer exist.
void drop_missing_outputs(int fd, const std::string& directory, std::vector<LatestLine>& lines) {
  std::vector<std::string> outputs;
  std::vector<std::size_t> line_of_output;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::optional<Stamp> stamp = stamp_of_line(text_at(fd, lines[i]));
    if (!stamp || stamp->output.find('\\') != std::string::npos) continue;  // an escaped name
    outputs.push_back((fs::path(directory) / stamp->output).string());
    line_of_output.push_back(i);
  }
  for (const std::size_t gone : missing_files(outputs)) lines[line_of_output[gone]].bytes = 0;
  std::erase_if(lines, [](const LatestLine& line) { return line.bytes == 0; });
}

// Moves the lines to the front, in order, and truncates the rest. Lines only move towards the start, so at
// every moment each is complete at its old or its new offset, except the one being moved.
void move_to_front(int fd, std::vector<LatestLine> lines) {
  std::ranges::sort(lines, {}, &LatestLine::at);
  std::string waiting;
  off_t end = 0;
  const auto write_waiting = [&] {
    const std::size_t written = write_fully(fd, std::as_bytes(std::span(waiting)), end);
    end += static_cast<off_t>(written);
    const bool all = written == waiting.size();
    waiting.clear();
    return all;
  };
  for (const LatestLine& line : lines) {
    waiting += text_at(fd, line);
    if (waiting.size() >= kBlockBytes && !write_waiting()) return;
  }
  if (write_waiting()) (void)!::ftruncate(fd, end);
}

// Passes all stamps to `take`, with their lines. Returns the number of lines, whether stamps or not.
std::size_t read_lines(int fd, const std::function<void(const Stamp& stamp, const Line& line)>& take) {
  std::size_t count = 0;
  LineReader reader(fd);
  while (const std::optional<Line> line = reader.next()) {
    ++count;
    if (static_cast<std::int64_t>(line->text.size()) > kMaxStampBytes) continue;
    if (const std::optional<Stamp> stamp = stamp_of_line(line->text)) take(*stamp, *line);
  }
  return count;
}

// O_NONBLOCK: never wait for a file that is not regular.
constexpr int kOpenFlags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

bool is_ours(std::string_view beginning) {
  return beginning.empty() || is_own_text(beginning);
}

}  // namespace

std::string stamp_file_in(const std::string& directory) {
  return (fs::path(directory.empty() ? "." : directory) / kStampFile).string();
}

void check_stamp_file(const std::string& path, Replace replace) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(
        ErrorKind::usage,
        printable(path) + ": not a regular file, but --update stores its records there; remove or rename it");
  // Its lines would allow --update to replace files that imgpipe did not write.
  if (may_be_planted(path))
    throw Error(ErrorKind::output, printable(path) +
                                       ": belongs to another user and is in a world-writable sticky "
                                       "directory; remove it or name another OUTPUT");
  check_replaceable(path, text_refusal_reason(path, replace));
}

void read_stamps(const std::string& path, const std::function<void(const Stamp& stamp)>& take) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | kOpenFlags));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw Error(ErrorKind::output, printable(path) + ": cannot read: " + system_reason(errno));
  }
  const FileLock lock(file.get(), kLockPatience);
  read_lines(file.get(), [&](const Stamp& stamp, const Line&) { take(stamp); });
}

void compact_stamps(const std::string& path, bool has_other_writers) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | kOpenFlags));
  if (file.get() < 0) return;
  const FileLock lock(file.get(), kLockPatience);
  if (!lock.is_held()) return;
  std::vector<LatestLine> lines;
  std::unordered_map<std::uint64_t, std::size_t> of_output;  // by hash of name; a collision loses a line
  const std::size_t count = read_lines(file.get(), [&](const Stamp& stamp, const Line& line) {
    const auto [place, fresh] = of_output.try_emplace(fnv1a(stamp.output), lines.size());
    if (fresh) lines.emplace_back();
    lines[place->second] = {line.at, static_cast<std::int64_t>(line.text.size()) + 1};
  });
  if (count < kMinLines) return;
  if (!has_other_writers) drop_missing_outputs(file.get(), fs::path(path).parent_path().string(), lines);
  if (lines.size() < count / 2) move_to_front(file.get(), std::move(lines));
}

GrowingFile open_stamps(const std::string& path, OutputSync* sync) {
  return GrowingFile(path, is_ours, sync);
}

}  // namespace imgpipe

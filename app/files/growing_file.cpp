#include "app/files/growing_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/files/file_lock.h"
#include "images/error.h"
#include "images/files/file_identity.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
constexpr std::chrono::seconds kLockPatience{5};  // the lock is normally held for microseconds

}  // namespace

void GrowingFile::refuse(int error) const {
  throw Error(ErrorKind::output, printable(path_) + ": cannot write: " + system_reason(error));
}

GrowingFile::GrowingFile(std::string path, const Keeps& keeps, OutputSync* sync)
    : path_(std::move(path)), sync_(sync) {
  naming(printable(path_), [&] { (void)OutputFile(path_).is_replaced(); });  // refuses planted links
  file_.emplace(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666));
  if (file_->get() < 0) refuse(errno);
  struct stat info {};
  if (::fstat(file_->get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  reader_.emplace(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (reader_->get() < 0) reader_.reset();
  begin(keeps);
}

// Truncates the file unless it is to be kept. The lock ensures that only one of several processes does so.
void GrowingFile::begin(const Keeps& keeps) {
  const FileLock lock(file_->get(), kLockPatience);
  std::string beginning(kBeginningBytes, '\0');
  const ssize_t got = reader_ ? ::pread(reader_->get(), beginning.data(), beginning.size(), 0) : -1;
  beginning.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (beginning.empty() ? size() == 0 : keeps && keeps(beginning)) return;
  if (::ftruncate(file_->get(), 0) != 0) refuse(errno);
}

void GrowingFile::add(std::string_view lines) {
  waiting_ += lines;
  if (waiting_.size() >= kBufferBytes) flush();
}

void GrowingFile::flush() {
  write_waiting(waiting_.size() >= kBufferBytes);
}

off_t GrowingFile::size() const {
  struct stat info {};
  return ::fstat(file_->get(), &info) == 0 ? info.st_size : -1;
}

// Returns the offset just past the last newline within `size` bytes; 0 if there is none.
off_t GrowingFile::end_of_last_line(off_t size) const {
  std::string block;
  for (off_t end = size; end > 0;) {
    const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(kBufferBytes));
    block.resize(static_cast<std::size_t>(end - begin));
    const ssize_t got = ::pread(reader_->get(), block.data(), block.size(), begin);
    if (got != static_cast<ssize_t>(block.size())) return size;
    if (const std::size_t at = block.rfind('\n'); at != std::string::npos)
      return begin + static_cast<off_t>(at) + 1;
    end = begin;
  }
  return 0;
}

void GrowingFile::write_waiting(bool patient) {
  if (waiting_.empty()) return;
  const int fd = file_->get();
  if (!reader_) {
    if (write_fully(fd, std::as_bytes(std::span(waiting_))) < waiting_.size()) refuse(errno);
    waiting_.clear();
    return;
  }
  const FileLock lock(fd, patient ? kLockPatience : std::chrono::seconds(0));
  if (lock.is_busy() && !patient) return;
  off_t end = size();
  if (const off_t last = end == known_end_ ? end : end_of_last_line(end); last != end) {
    // The last line is incomplete: a process was killed while writing it, or, if locks do not work, another
    // process may still be writing it.
    if (lock.is_held() && ::ftruncate(fd, last) == 0) {
      end = last;
    } else {
      waiting_.insert(0, "\n");
    }
  }
  const std::size_t done = write_fully(fd, std::as_bytes(std::span(waiting_)));
  if (done < waiting_.size()) {
    const int error = errno;
    if (lock.is_held()) (void)!::ftruncate(fd, end);
    refuse(error);
  }
  known_end_ = lock.is_held() ? end + static_cast<off_t>(done) : -1;
  waiting_.clear();
}

void GrowingFile::close() {
  write_waiting(true);
  const bool gone = reader_ && is_removed(file_->get());
  if (reader_) {
    naming(printable(path_), [&] {
      sync_data(file_->get(), sync_);
      if (const auto target = followed(path_)) add_name(*target, sync_);
    });
  }
  if (file_->close_now() != 0) refuse(errno);
  if (gone)
    throw Error(ErrorKind::output,
                printable(path_) + ": another process removed it while it was being written");
}

}  // namespace imgpipe

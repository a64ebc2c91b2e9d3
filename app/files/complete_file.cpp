#include "app/files/complete_file.h"

#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "app/files/text_file.h"
#include "images/error.h"
#include "images/files/file_identity.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

bool write_all(int fd, std::string_view text, std::optional<off_t> at) {
  return write_fully(fd, std::as_bytes(std::span(text)), at) == text.size();
}

}  // namespace

void CompleteFile::refuse(int error) const {
  throw Error(ErrorKind::output, printable(path_) + ": cannot write: " + system_reason(error));
}

CompleteFile::CompleteFile(std::string path, std::string_view beginning, std::string end, OutputSync* sync)
    : path_(std::move(path)), end_(std::move(end)), sync_(sync) {
  naming(printable(path_), [&] { is_replaced_ = OutputFile(path_).is_replaced(); });
  if (is_replaced_) {
    write_text(path_, std::string(beginning) + end_, sync_);
    at_ = static_cast<off_t>(beginning.size());
  } else {
    waiting_ = beginning;
  }
  const std::optional<int> own = descriptor_of(path_);
  file_.emplace(own ? ::fcntl(*own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                    : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (file_->get() < 0) refuse(errno);
}

void CompleteFile::add(std::string_view text) {
  waiting_ += text;
}

void CompleteFile::flush() {
  if (waiting_.empty()) return;
  const int fd = file_->get();
  if (!is_replaced_) {
    if (!write_all(fd, waiting_, std::nullopt)) refuse(errno);
  } else if (write_all(fd, waiting_ + end_, at_)) {
    at_ += static_cast<off_t>(waiting_.size());
  } else {
    const int error = errno;  // even on a full disk the end fits at its old offset
    if (write_all(fd, end_, at_)) (void)!::ftruncate(fd, at_ + static_cast<off_t>(end_.size()));
    refuse(error);
  }
  waiting_.clear();
}

void CompleteFile::close() {
  if (!is_replaced_) add(end_);
  flush();
  if (is_replaced_) naming(printable(path_), [&] { sync_data(file_->get(), sync_); });
  const bool gone = is_replaced_ && is_removed(file_->get());
  if (file_->close_now() != 0) refuse(errno);
  if (gone)
    throw Error(ErrorKind::output,
                printable(path_) + ": another process removed it while it was being written");
}

}  // namespace imgpipe

#include "images/files/output_sync.h"

#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/file_descriptor.h"
#include "images/text.h"

namespace imgpipe {
namespace {

[[noreturn]] void refuse(int error) {
  throw Error(ErrorKind::output, "cannot sync to the disk: " + system_reason(error));
}

// Pipes, devices and some file systems have nothing to sync.
bool cannot_be_synced(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EROFS;
}

// Retries after signals.
template <class Sync>
void sync_descriptor(int fd, Sync sync) {
  while (sync(fd) != 0) {
    if (errno == EINTR) continue;
    if (cannot_be_synced(errno)) return;
    refuse(errno);
  }
}

// Ignores a directory that is gone, which holds no names, and one without read permission.
void sync_directory(const std::string& path) {
  naming(printable(path), [&] {
    const FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory.get() < 0) {
      if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return;
      refuse(errno);
    }
    sync_descriptor(directory.get(), ::fsync);
  });
}

std::string directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

}  // namespace

void OutputSync::add_name(const std::filesystem::path& path) {
  if (!is_on_) return;
  const std::lock_guard lock(mutex_);
  directories_.insert(directory_of(path));
}

void OutputSync::sync_names() {
  std::set<std::string> directories;
  {
    const std::lock_guard lock(mutex_);
    directories.swap(directories_);
  }
  std::optional<Error> first;
  for (const std::string& directory : directories) {
    try {
      sync_directory(directory);
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  if (first) throw Error(*first);
}

void sync_data(int fd, const OutputSync* sync) {
  if (sync == nullptr || sync->is_on()) sync_descriptor(fd, ::fdatasync);
}

void add_name(const std::filesystem::path& path, OutputSync* sync) {
  if (sync == nullptr) {
    sync_directory(directory_of(path));
  } else {
    sync->add_name(path);
  }
}

}  // namespace imgpipe

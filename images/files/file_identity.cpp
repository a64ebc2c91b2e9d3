#include "images/files/file_identity.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

FileIdentity identity_of(const struct stat& info) {
  return {info.st_dev, info.st_ino, ""};
}

std::optional<FileIdentity> identity_unless_shared(const struct stat& info) {
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode) || S_ISSOCK(info.st_mode)) return std::nullopt;
  return identity_of(info);
}

// Returns the parent directory, "." for a bare file name.
fs::path parent_directory(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

// Returns N if `path` itself, without following links, is N in this process's descriptor directory.
std::optional<int> process_descriptor(const fs::path& path) {
  const std::string name = path.filename().string();
  int fd = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), fd);
  if (error != std::errc{} || end != name.data() + name.size() || fd < 0) return std::nullopt;
  std::error_code missing;
  const fs::path directory = fs::canonical(parent_directory(path), missing);
  if (missing) return std::nullopt;
  for (const char* descriptors : {"/proc/self/fd", "/proc/thread-self/fd"}) {
    if (directory == fs::canonical(descriptors, missing) && !missing) return fd;
  }
  return std::nullopt;
}

std::optional<fs::path> followed(fs::path path, const std::function<void(const fs::path& link)>& check) {
  constexpr int kMaxLinks = 40;  // the limit of Linux
  std::error_code error;
  for (int i = 0; fs::is_symlink(path, error) && !process_descriptor(path); ++i) {
    if (check) check(path);
    const fs::path link = fs::read_symlink(path, error);
    if (error || i == kMaxLinks) return std::nullopt;
    path = path.parent_path() / link;  // an absolute link replaces the whole path
  }
  return path;
}

std::optional<int> descriptor_of(const std::string& path) {
  const std::optional<fs::path> target = followed(path);
  return target ? process_descriptor(*target) : std::nullopt;
}

std::optional<FileIdentity> descriptor_identity(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  return identity_unless_shared(info);
}

std::optional<FileIdentity> file_identity(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return identity_unless_shared(info);
  const std::optional<fs::path> target = followed(path);
  if (!target) return std::nullopt;
  fs::path directory = *target;
  fs::path below;
  do {
    below = below.empty() ? directory.filename() : directory.filename() / below;
    if (directory == parent_directory(directory)) return std::nullopt;  // not even "." or "/" is accessible
    directory = parent_directory(directory);
  } while (::stat(directory.c_str(), &info) != 0);
  FileIdentity identity = identity_of(info);
  identity.below = below.lexically_normal().string();
  return identity;
}

bool may_be_planted(const fs::path& path) {
  struct stat file {
  }, directory{};
  if (::lstat(path.c_str(), &file) != 0 || ::stat(parent_directory(path).c_str(), &directory) != 0)
    return false;
  constexpr mode_t kOpenToAll = S_ISVTX | S_IWOTH;
  return (directory.st_mode & kOpenToAll) == kOpenToAll && file.st_uid != ::geteuid() &&
         file.st_uid != directory.st_uid;
}

}  // namespace imgpipe

#include "app/jobs/directory_walk.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "app/files/path_text.h"

namespace imgpipe {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// The kernel usually reports an entry's type. Only directories, links and entries of unknown type need a
// stat. It uses the name relative to the directory, since the path may be longer than PATH_MAX.
DirectoryEntry entry_of(int directory, const dirent& found) {
  DirectoryEntry entry{found.d_name, std::nullopt, found.d_type == DT_LNK};
  struct stat info {};
  if (found.d_type == DT_UNKNOWN && ::fstatat(directory, found.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
    entry.is_link = S_ISLNK(info.st_mode);
  if (found.d_type != DT_DIR && found.d_type != DT_LNK && found.d_type != DT_UNKNOWN) return entry;
  if (::fstatat(directory, found.d_name, &info, 0) == 0 && S_ISDIR(info.st_mode))
    entry.directory = FileId{info.st_dev, info.st_ino};
  return entry;
}

struct OpenDirectory {
  WalkPosition spot;
  std::vector<DirectoryEntry> entries;
  std::size_t next = 0;
};

}  // namespace

std::vector<DirectoryEntry> read_directory(const std::string& path, std::error_code& error) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  std::vector<DirectoryEntry> entries;
  errno = directory ? 0 : errno;
  while (const dirent* found = directory ? ::readdir(directory.get()) : nullptr) {
    const std::string_view name = found->d_name;
    if (name != "." && name != "..") entries.push_back(entry_of(::dirfd(directory.get()), *found));
    errno = 0;
  }
  error = {errno, std::generic_category()};
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();  // not an error of the directory
  if (error) return {};
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

WalkPosition WalkPosition::at(const std::string& name) const {
  return {joined_path(path, name), joined_path(below, name), joined_path(tree, name)};
}

void walk_directories(const WalkPosition& top, const WalkSteps& steps) {
  std::vector<OpenDirectory> way;
  const auto enter = [&](WalkPosition spot) {
    std::error_code error;
    std::vector<DirectoryEntry> entries = read_directory(spot.path, error);
    if (error) {
      steps.cannot_read(spot, error);
    } else {
      way.push_back({std::move(spot), std::move(entries)});
    }
  };
  enter(top);
  while (!way.empty()) {
    OpenDirectory& here = way.back();
    if (here.next == here.entries.size()) {
      way.pop_back();
      continue;
    }
    const DirectoryEntry& entry = here.entries[here.next++];
    WalkPosition spot = here.spot.at(entry.name);
    if (entry.name.starts_with('.')) {
      if (!entry.directory) steps.count_hidden(spot);
      continue;
    }
    if (!entry.directory) {
      steps.take(spot);
    } else if (steps.enters(spot, *entry.directory)) {
      enter(std::move(spot));
    }
  }
}

}  // namespace imgpipe

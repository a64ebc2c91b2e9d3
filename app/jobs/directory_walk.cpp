#include "app/jobs/directory_walk.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The kernel usually reports whether an entry is a directory or a link. Only those, and entries of unknown
// type, need a stat. It uses the name relative to the directory, since the path may be longer than PATH_MAX.
FolderEntry entry_of(int folder, const dirent& found) {
  FolderEntry entry{found.d_name, std::nullopt, found.d_type == DT_LNK};
  struct stat info {};
  if (found.d_type == DT_UNKNOWN && ::fstatat(folder, found.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
    entry.is_link = S_ISLNK(info.st_mode);
  if (found.d_type != DT_DIR && found.d_type != DT_LNK && found.d_type != DT_UNKNOWN) return entry;
  if (::fstatat(folder, found.d_name, &info, 0) == 0 && S_ISDIR(info.st_mode))
    entry.folder = FileId{info.st_dev, info.st_ino};
  return entry;
}

struct OpenFolder {
  Spot spot;
  std::vector<FolderEntry> entries;
  std::size_t next = 0;
};

}  // namespace

std::vector<FolderEntry> read_folder(const std::string& path, std::error_code& error) {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  std::vector<FolderEntry> entries;
  errno = folder ? 0 : errno;
  while (const dirent* found = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = found->d_name;
    if (name != "." && name != "..") entries.push_back(entry_of(::dirfd(folder.get()), *found));
    errno = 0;
  }
  error = {errno, std::generic_category()};
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();  // not an error of the directory
  if (error) return {};
  std::ranges::sort(entries, {}, &FolderEntry::name);
  return entries;
}

Spot Spot::at(const std::string& name) const {
  return {(fs::path(path) / name).string(), (fs::path(below) / name).string(),
          (fs::path(tree) / name).string()};
}

void walk_folders(const Spot& top, const WalkSteps& steps) {
  std::vector<OpenFolder> way;
  const auto enter = [&](Spot spot) {
    std::error_code error;
    std::vector<FolderEntry> entries = read_folder(spot.path, error);
    if (error) {
      steps.cannot_read(spot, error);
    } else {
      way.push_back({std::move(spot), std::move(entries)});
    }
  };
  enter(top);
  while (!way.empty()) {
    OpenFolder& here = way.back();
    if (here.next == here.entries.size()) {
      way.pop_back();
      continue;
    }
    const FolderEntry& entry = here.entries[here.next++];
    Spot spot = here.spot.at(entry.name);
    if (entry.name.starts_with('.')) {
      if (!entry.folder) steps.pass_hidden(spot);
      continue;
    }
    if (!entry.folder) {
      steps.take(spot);
    } else if (steps.enters(spot, *entry.folder)) {
      enter(std::move(spot));
    }
  }
}

}  // namespace imgpipe

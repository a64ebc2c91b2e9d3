#include "app/files/lost_outputs.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

#include <sys/stat.h>

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewFiles = 32;

// Returns the names of the regular files in a directory, as far as it can be read.
std::unordered_set<std::string> files_in(const std::string& directory) {
  std::unordered_set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory.empty() ? "." : directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (!entry->is_symlink(unknown) && entry->is_regular_file(unknown))
      names.insert(entry->path().filename().string());
  }
  return names;
}

bool path_exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

}  // namespace

std::vector<std::size_t> missing_files(const std::vector<std::string>& paths) {
  std::unordered_map<std::string, std::vector<std::size_t>> by_directory;
  for (std::size_t i = 0; i < paths.size(); ++i)
    by_directory[fs::path(paths[i]).parent_path().string()].push_back(i);
  std::vector<std::size_t> missing;
  for (const auto& [directory, files] : by_directory) {
    std::unordered_set<std::string> listed;
    if (files.size() > kFewFiles) listed = files_in(directory);
    for (const std::size_t i : files) {
      if (!listed.contains(fs::path(paths[i]).filename().string()) && !path_exists(paths[i]))
        missing.push_back(i);
    }
  }
  std::ranges::sort(missing);
  return missing;
}

}  // namespace imgpipe

// Paths as text, for lists of many files: std::filesystem::path parses and allocates its components each
// time.
#pragma once

#include <string>
#include <string_view>

namespace imgpipe {

// Returns the part after the last slash; path::filename() returns the same.
[[nodiscard]] inline std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns directory / name for a name that is neither empty nor absolute.
[[nodiscard]] inline std::string joined_path(std::string_view directory, std::string_view name) {
  std::string path;
  path.reserve(directory.size() + 1 + name.size());
  path += directory;
  if (!path.empty() && path.back() != '/') path += '/';
  return path += name;
}

// Returns path::parent_path() of a path that does not end with a slash: the part before the last slashes.
[[nodiscard]] inline std::string_view parent_path_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::size_t last = path.find_last_not_of('/', slash);
  return path.substr(0, last == std::string_view::npos ? 1 : last + 1);
}

}  // namespace imgpipe

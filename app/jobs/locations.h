// Resolves paths to detect outputs and inputs that are the same file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include "app/files/path_text.h"
#include "images/files/file_identity.h"

namespace imgpipe {

// A location is the identity of a directory plus a name in it. Each directory is looked up once.
class Locations {
 public:
  const std::optional<FileIdentity>& directory(std::string_view path) {
    const std::string_view parent = parent_path_of(path);
    if (last_ == nullptr || last_->first != parent) {
      const auto [found, fresh] = directories_.try_emplace(std::string(parent));
      if (fresh) found->second = file_identity(parent.empty() ? "." : std::string(parent));
      last_ = &*found;
    }
    return last_->second;
  }
  std::optional<FileIdentity> of(std::string_view path) {
    std::optional<FileIdentity> location = directory(path);
    if (location) location->below = joined_path(location->below, file_name_of(path));
    return location;
  }

  struct Output {
    std::optional<struct stat> info;       // of the existing file, links followed
    std::optional<FileIdentity> location;  // nullopt for a loop of links
  };
  // Returns where a file would be written, following links. Hard links have different locations, because
  // files are replaced and not overwritten. Takes one system call for a new file, none if its directory is
  // missing.
  Output of_output(const std::string& path) {
    struct stat info {};
    std::optional<FileIdentity> location = of(path);
    const bool has_directory = !location || location->below.find('/') == std::string::npos;
    if (!has_directory || ::lstat(path.c_str(), &info) != 0) return {std::nullopt, std::move(location)};
    if (!S_ISLNK(info.st_mode)) return {info, std::move(location)};
    const std::optional<std::filesystem::path> target = followed(path);
    const bool exists = ::stat(path.c_str(), &info) == 0;
    return {exists ? std::optional(info) : std::nullopt, target ? of(target->string()) : std::nullopt};
  }

 private:
  std::unordered_map<std::string, std::optional<FileIdentity>> directories_;
  const std::pair<const std::string, std::optional<FileIdentity>>* last_ = nullptr;  // in directories_
};

}  // namespace imgpipe

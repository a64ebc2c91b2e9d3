// Resolves paths to detect outputs and inputs that are the same file.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
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
    if (path.find("//") != path.npos) has_aliases_ = true;  // parent_path_of() omits repeated slashes
    const std::string_view parent = parent_path_of(path);
    if (last_ == nullptr || last_->first != parent) {
      const auto [found, fresh] = directories_.try_emplace(std::string(parent));
      if (fresh) {
        found->second = file_identity(parent.empty() ? "." : std::string(parent));
        if (found->second && !identities_.insert(*found->second).second) has_aliases_ = true;
      }
      last_ = &*found;
    }
    return last_->second;
  }
  std::optional<FileIdentity> of(std::string_view path) {
    std::optional<FileIdentity> location = directory(path);
    if (location) location->below = joined_path(location->below, file_name_of(path));
    return location;
  }

  // Returns true if two different paths so far may name one file without being links.
  [[nodiscard]] bool has_aliases() const { return has_aliases_; }

  struct Output {
    std::optional<struct stat> info;  // of the existing file, links followed
    bool is_link = false;
  };
  // Takes one system call for a new file, none if its directory is missing.
  Output output(const std::string& path) {
    struct stat info {};
    const std::optional<FileIdentity>& parent = directory(path);
    if ((parent && !parent->below.empty()) || ::lstat(path.c_str(), &info) != 0) return {};
    if (!S_ISLNK(info.st_mode)) return {info};
    const bool exists = ::stat(path.c_str(), &info) == 0;
    return {exists ? std::optional(info) : std::nullopt, true};
  }
  // Returns where a file would be written, following links; nullopt for a loop of links. Hard links have
  // different locations, because files are replaced and not overwritten.
  std::optional<FileIdentity> of_output(const std::string& path) {
    if (!output(path).is_link) return of(path);
    const std::optional<std::filesystem::path> target = followed(path);
    return target ? of(target->string()) : std::nullopt;
  }

 private:
  std::set<FileIdentity> identities_;  // of directories_
  bool has_aliases_ = false;
  std::unordered_map<std::string, std::optional<FileIdentity>> directories_;
  const std::pair<const std::string, std::optional<FileIdentity>>* last_ = nullptr;  // in directories_
};

}  // namespace imgpipe

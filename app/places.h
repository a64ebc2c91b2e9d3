// Which outputs would come to lie in one place.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include "images/files/file_identity.h"

namespace imgpipe {

class Places {
 public:
  struct Place {
    std::optional<struct stat> info;       // of the file that is there, links followed
    std::optional<FileIdentity> identity;  // nullopt for a loop of links
  };
  // The identity of what is written to a path, links followed: a directory and a name in it. Hard links have
  // different identities, because a file is replaced and not written over. One system call where there is no
  // file, none where its directory is missing.
  Place look_at(const std::string& path) {
    struct stat info {};
    std::optional<FileIdentity> place = identity_of(path);
    const bool has_directory = !place || !std::filesystem::path(place->below).has_parent_path();
    if (!has_directory || ::lstat(path.c_str(), &info) != 0) return {std::nullopt, std::move(place)};
    if (!S_ISLNK(info.st_mode)) return {info, std::move(place)};
    const std::optional<std::filesystem::path> target = followed(path);
    const bool exists = ::stat(path.c_str(), &info) == 0;
    return {exists ? std::optional(info) : std::nullopt, target ? identity_of(*target) : std::nullopt};
  }

 private:
  std::optional<FileIdentity> identity_of(const std::filesystem::path& target) {
    const auto [folder, fresh] = folders_.try_emplace(target.parent_path().string());
    if (fresh) folder->second = file_identity(folder->first);
    std::optional<FileIdentity> place = folder->second;
    if (place) place->below = (std::filesystem::path(place->below) / target.filename()).string();
    return place;
  }

  std::unordered_map<std::string, std::optional<FileIdentity>> folders_;  // each is looked at once
};

}  // namespace imgpipe

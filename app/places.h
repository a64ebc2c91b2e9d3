// Which outputs would come to lie in one place.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

#include "images/files/file_identity.h"

namespace imgpipe {

// Where what is written to a path comes to lie, links followed: a folder and a name in it. Hard links are
// places of their own, because a file is replaced and not written over. nullopt for a loop of links.
class Places {
 public:
  std::optional<FileIdentity> of(const std::string& path) {
    const std::optional<std::filesystem::path> target = followed(path);
    if (!target) return std::nullopt;
    const auto [folder, fresh] = folders_.try_emplace(target->parent_path().string());
    if (fresh) folder->second = file_identity(folder->first);
    std::optional<FileIdentity> place = folder->second;
    if (place) place->below = (std::filesystem::path(place->below) / target->filename()).string();
    return place;
  }

 private:
  std::unordered_map<std::string, std::optional<FileIdentity>> folders_;  // each is looked at once
};

}  // namespace imgpipe

// Which file a name stands for, also before there is one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

namespace imgpipe {

// What all names of one file have in common: its own place in the system or, while it is not there, that of
// the nearest folder above it that is, and the way from there.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string below;  // empty: the file is there

  bool operator==(const FileIdentity&) const = default;
  bool operator<(const FileIdentity& other) const {
    return std::tie(device, inode, below) < std::tie(other.device, other.inode, other.below);
  }
};

// Of what a path names, through links of every kind. nullopt for what may well be named twice, because
// nothing in it is replaced: devices (/dev/null) and sockets; and for a loop of links, which names nothing.
[[nodiscard]] std::optional<FileIdentity> file_identity(const std::string& path);
// The same of what a descriptor is open on; nullopt also when it is closed.
[[nodiscard]] std::optional<FileIdentity> descriptor_identity(int fd);

// N for /dev/stdout, /dev/fd/N and all else that leads to a descriptor of this process (proc(5)), open or
// not; nullopt for every other path. Such a path cannot be replaced, and opening it anew would begin at the
// file's start: it means the descriptor itself.
[[nodiscard]] std::optional<int> descriptor_of(const std::string& path);
// The same for a path that followed() returned.
[[nodiscard]] std::optional<int> own_descriptor(const std::filesystem::path& path);

// The path behind symbolic links, which need not exist yet; a link to a descriptor of this process stays.
// nullopt for a link that cannot be read, and for more links than Linux itself follows: a loop. `check` gets
// each link before it is followed, and may throw.
[[nodiscard]] std::optional<std::filesystem::path> followed(
    std::filesystem::path path,
    const std::function<void(const std::filesystem::path& link)>& check = nullptr);

}  // namespace imgpipe

// Determines which file a path names, even before the file exists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <tuple>

namespace imgpipe {

// Equal for all paths of one file: its device and inode or, while it does not exist, those of its nearest
// existing parent directory and the path from there.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string below;  // empty: the file exists

  bool operator==(const FileIdentity&) const = default;
  bool operator<(const FileIdentity& other) const {
    return std::tie(device, inode, below) < std::tie(other.device, other.inode, other.below);
  }
};

// Returns the identity of the file that a path names, through all links. nullopt for devices (/dev/null) and
// sockets, which several outputs may share because they are not replaced, and for a loop of links.
[[nodiscard]] std::optional<FileIdentity> file_identity(const std::string& path);
// The same for an open descriptor; nullopt also if it is closed.
[[nodiscard]] std::optional<FileIdentity> descriptor_identity(int fd);

// Returns N for /dev/stdout, /dev/fd/N and every other path to a descriptor of this process (proc(5)), open
// or not; else nullopt. Such a path cannot be replaced and reopening it would start at the beginning of the
// file, so it stands for the descriptor itself.
[[nodiscard]] std::optional<int> descriptor_of(const std::string& path);
// The same for a path returned by followed().
[[nodiscard]] std::optional<int> process_descriptor(const std::filesystem::path& path);

// Returns the target of symbolic links, which need not exist; stops at a link to a descriptor of this
// process. nullopt for an unreadable link, and for more links than Linux follows (a loop). Calls `check`,
// which may throw, for each link before following it.
[[nodiscard]] std::optional<std::filesystem::path> followed(
    std::filesystem::path path,
    const std::function<void(const std::filesystem::path& link)>& check = nullptr);

// Returns whether another user may have put this link or file there, by the rule of Linux's
// fs.protected_symlinks and fs.protected_regular (proc_sys_fs(5)): the directory is sticky and
// world-writable, and neither this process's user nor the directory's owner owns the file.
[[nodiscard]] bool may_be_planted(const std::filesystem::path& path);

}  // namespace imgpipe

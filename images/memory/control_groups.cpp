#include "images/memory/control_groups.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace imgpipe {
namespace {

constexpr std::size_t kRecordBytes = 16 << 10;
// The maximum number of bytes read of mountinfo: some 4,000 mounts.
constexpr std::size_t kMaxBytes = 1 << 20;

// Reads once, or until the end of the file or `most` bytes.
std::string read_system_file(const std::string& path, std::size_t most, bool one_read) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return "";
  std::string text;
  ssize_t got = 0;
  std::array<char, kRecordBytes> chunk;
  do {
    got = ::read(fd, chunk.data(), chunk.size());
    if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
  } while (got > 0 && text.size() < most && !one_read);
  ::close(fd);
  return got < 0 ? "" : text;
}

// Removes and returns the text before `end`, and removes `end`.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return part;
}

bool list_has(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    if (take_until(list, ",") == name) return true;
  }
  return false;
}

// Decodes the octal escapes of mountinfo, such as "\040" for a blank.
std::string unescaped(std::string_view field) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size() && std::ranges::all_of(field.substr(i + 1, 3), octal)) {
      const int value = (field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0');
      out += static_cast<char>(value);
      i += 3;
    } else {
      out += field[i];
    }
  }
  return out;
}

struct Mount {
  int version = 2;
  std::string root;   // path of the mounted group in the hierarchy
  std::string point;  // the mount point
};

// "31 23 0:28 ROOT POINT OPTIONS... - TYPE SOURCE OPTIONS"
std::optional<Mount> mount_of(std::string_view line, std::string_view controller) {
  std::string_view before = take_until(line, " - ");
  const std::string_view type = take_until(line, " ");
  take_until(line, " ");
  if (type != "cgroup2" && !(type == "cgroup" && list_has(line, controller))) return std::nullopt;
  for (int i = 0; i < 3; ++i) take_until(before, " ");
  Mount mount{type == "cgroup2" ? 2 : 1, unescaped(take_until(before, " ")), ""};
  mount.point = unescaped(take_until(before, " "));
  return mount;
}

std::vector<Mount> mounts_of(std::string_view controller, const SystemView& view) {
  const std::string text = read_system_file(view.root + "/proc/self/mountinfo", kMaxBytes, false);
  if (text.empty())
    return {{1, "/", "/sys/fs/cgroup/" + std::string(controller)}, {2, "/", "/sys/fs/cgroup"}};
  std::vector<Mount> mounts;
  for (std::string_view rest = text; !rest.empty();) {
    std::optional<Mount> mount = mount_of(take_until(rest, "\n"), controller);
    if (mount) mounts.push_back(*std::move(mount));
  }
  return mounts;
}

// Returns the path of this process's group in the hierarchy of that version; "/" if unknown.
// "4:cpu,cpuacct:/PATH" is version 1, "0::/PATH" version 2.
std::string own_path(int version, std::string_view controller, const SystemView& view) {
  const std::string text = read_system_file(view.root + "/proc/self/cgroup", kMaxBytes, false);
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = take_until(rest, "\n");
    const std::string_view id = take_until(line, ":");
    const std::string_view controllers = take_until(line, ":");
    const bool is_it = version == 2 ? id == "0" && controllers.empty() : list_has(controllers, controller);
    if (is_it && line.starts_with('/')) return std::string(line);
  }
  return "/";
}

// Returns the path from the group `root` down to `path`, "/A/B" or ""; nullopt if `path` is not below. Inside
// a cgroup namespace both are relative to the namespace's root, with "/../.." for groups above it.
std::optional<std::string> path_below(std::string_view root, std::string_view path) {
  if (root == "/") root = "";
  if (path == "/") path = "";
  if (!path.starts_with(root)) return std::nullopt;
  const std::string_view way = path.substr(root.size());
  if (!way.empty() && way.front() != '/') return std::nullopt;
  if (way == "/.." || way.starts_with("/../")) return std::nullopt;
  return std::string(way);
}

bool directory_exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

void append_groups(int version, const std::vector<Mount>& mounts, const std::string& own,
                   const SystemView& view, std::vector<ControlGroup>& groups) {
  // Several mounts may show one hierarchy (a container that also sees its host's). Prefers the one that shows
  // the longest path; a mount hidden under another one shows nothing.
  std::string best_point;
  std::string best_way;
  int best = -1;
  for (const Mount& mount : mounts) {
    if (mount.version != version) continue;
    const std::optional<std::string> way = path_below(mount.root, own);
    const std::string point = view.root + (mount.point == "/" ? "" : mount.point);
    const int worth = (way ? 2 : 0) + (directory_exists(point + way.value_or("")) ? 1 : 0);
    if (worth < best || (worth == best && way.value_or("").size() <= best_way.size())) continue;
    best = worth;
    best_point = point;
    best_way = way.value_or("");
  }
  if (best < 0) return;
  for (;;) {
    groups.push_back({version, best_point + best_way});
    if (best_way.empty()) return;
    best_way.erase(best_way.rfind('/'));
  }
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const SystemView& view) {
  std::vector<ControlGroup> groups;
  const std::vector<Mount> mounts = mounts_of(controller, view);
  for (const int version : {1, 2})
    append_groups(version, mounts, own_path(version, controller, view), view, groups);
  return groups;
}

std::string read_record(const std::string& path) {
  return read_system_file(path, kRecordBytes, true);
}

std::optional<std::int64_t> count_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  if (end != text.data() + text.size() && *end != ' ' && *end != '\n' && *end != '\t') return std::nullopt;
  return value;
}

std::optional<std::int64_t> count_of(std::string_view table, std::string_view key) {
  while (!table.empty()) {
    std::string_view line = take_until(table, "\n");
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with(':')) line.remove_prefix(1);
    const std::size_t blanks = line.find_first_not_of(" \t");
    if (blanks == 0 || blanks == std::string_view::npos) continue;  // a longer key, or not a number
    return count_in(line.substr(blanks));
  }
  return std::nullopt;
}

}  // namespace imgpipe

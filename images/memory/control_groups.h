// The control groups (cgroups) of this process, as directories to read limits from. Sources: cgroups(7),
// cgroup_namespaces(7), proc_pid_mountinfo(5), the kernel's cgroup-v1 and cgroup-v2 guides.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// The file system and environment to read; tests create their own tree.
struct SystemView {
  std::string root;  // prefix of /proc and of every mount point; empty: the real system
  std::function<const char*(const char* name)> variable = [](const char* name) { return std::getenv(name); };
};

// The source of the bound for the machine's memory, which is not a configured limit.
inline constexpr const char* kMachineSource = "the machine";

struct ControlGroup {
  int version = 2;        // 1 or 2
  std::string directory;  // of its files, including the view's root
};

// Returns the groups through which `controller` ("memory", "cpu") may limit this process: its own group, then
// each mounted parent; version 1 before version 2, because a hybrid system has both. If a mount shows a part
// of the hierarchy that excludes this process, returns the mount's own group only. Without a readable
// mountinfo, assumes the usual mount points. Directories and files may be missing.
[[nodiscard]] std::vector<ControlGroup> control_groups(std::string_view controller, const SystemView& view);

// Returns a file of /proc or of a control group, read by one read(2) of 16 KiB; empty if it cannot be read.
[[nodiscard]] std::string read_record(const std::string& path);

// Returns the integer at the start of `text`, which must end at a blank, a line end or the end of the text.
// nullopt for "max", negative numbers, numbers above 2^63 - 1 and anything else.
[[nodiscard]] std::optional<std::int64_t> count_in(std::string_view text);

// Returns the integer in the line "KEY NUMBER" or "KEY: NUMBER" of a table.
[[nodiscard]] std::optional<std::int64_t> count_of(std::string_view table, std::string_view key);

}  // namespace imgpipe

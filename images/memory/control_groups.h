// The control groups (cgroups) that this process is in, as folders to read limits from.
// Sources: cgroups(7), cgroup_namespaces(7), proc_pid_mountinfo(5), the kernel's cgroup-v1 and cgroup-v2
// guides.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// Where the system is looked at; a test makes a tree of its own.
struct SystemView {
  std::string root;  // stands before /proc and before every mount point; empty: the system itself
  std::function<const char*(const char* name)> variable = [](const char* name) { return std::getenv(name); };
};

// The source of a bound that no limit sets.
inline constexpr const char* kTheMachine = "the machine";

struct ControlGroup {
  int version = 2;     // 1 or 2
  std::string folder;  // of its files, the view's root in front
};

// The groups by which `controller` ("memory", "cpu") may limit this process: its own first, then each parent
// as far up as the hierarchy is mounted; those of version 1 before those of version 2, because a hybrid
// system has both and a controller is in one of them. Where a mount shows some other part of the hierarchy
// than the one that this process is in (a cgroup namespace may hide which), only that mount's own group.
// Without a readable mountinfo the usual places are taken. A group's files may be missing; a folder may be,
// too. Throws std::bad_alloc only.
[[nodiscard]] std::vector<ControlGroup> control_groups(std::string_view controller, const SystemView& view);

// A file of /proc or of a control group: what one read(2) of 16 KiB gives, which is all of those that one
// record makes. Empty when it cannot be read.
[[nodiscard]] std::string read_record(const std::string& path);

// The whole number that `text` begins with, before a blank, a line's end or the end of the text; nothing for
// "max", a negative one, one past 2^63 - 1, and everything else.
[[nodiscard]] std::optional<std::int64_t> count_in(std::string_view text);

// The same for the line "KEY NUMBER" or "KEY: NUMBER" of a table.
[[nodiscard]] std::optional<std::int64_t> count_of(std::string_view table, std::string_view key);

}  // namespace imgpipe

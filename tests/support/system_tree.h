// A tree of files that looks like a system, for tests of limits from /proc and /sys.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/memory/control_groups.h"
#include "tests/support/files.h"

namespace imgpipe::test {

// The usual mount of version 2 control groups, as a line of mountinfo.
inline constexpr const char* kV2Mount =
    "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 master:2 - cgroup2 cgroup2 rw\n";

class SystemTree : public testing::Test {
 protected:
  SystemTree() {
    view_.root = directory_.path().string();
    view_.variable = [this](const char* name) {
      const auto at = variables_.find(name);
      return at == variables_.end() ? nullptr : at->second.c_str();
    };
    make("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n");
    make("proc/self/statm", "5120 2560 100 10 0 1280 0\n");
  }

  void make(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    save_text(path, text);
  }
  void process_is_in(const std::string& groups, const std::string& mounts) const {
    make("proc/self/cgroup", groups);
    make("proc/self/mountinfo", "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n" + mounts);
  }
  [[nodiscard]] std::vector<std::string> groups(std::string_view controller) const {
    std::vector<std::string> names;
    for (const ControlGroup& group : control_groups(controller, view_))
      names.push_back("v" + std::to_string(group.version) + " " + group.directory.substr(view_.root.size()));
    return names;
  }

  using Names = std::vector<std::string>;
  TemporaryDirectory directory_;
  std::map<std::string, std::string> variables_;
  SystemView view_;
};

}  // namespace imgpipe::test

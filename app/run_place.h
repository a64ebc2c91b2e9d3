// When, where and as what a run was started: what its pages say of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace imgpipe {

struct RunPlace {
  std::string date;  // UTC, ISO 8601: "2026-11-22T21:53:19Z"
  std::string host;  // its name; empty where it has none
};
[[nodiscard]] RunPlace run_place();

// One argument as a shell takes it, in text that can be shown.
[[nodiscard]] std::string shell_quoted(const std::string& argument);

// A command line as a shell takes it: imgpipe and its arguments.
[[nodiscard]] std::string command_text(const std::vector<std::string>& arguments);
// That of this process, whatever its file is called; empty where the system does not report it.
[[nodiscard]] std::string command_text();

// The most memory that this process has held so far, as the system counts it (VmHWM, proc(5)); 0 where it
// does not tell.
[[nodiscard]] std::int64_t peak_memory_bytes();

}  // namespace imgpipe

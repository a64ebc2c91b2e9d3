// The date, host and command line of a run, for its HTML pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace imgpipe {

struct RunContext {
  std::string date;  // UTC, ISO 8601: "2026-11-22T21:53:19Z"
  std::string host;  // empty if unknown
};
[[nodiscard]] RunContext run_context();

// Quotes one argument for a shell, using printable characters only.
[[nodiscard]] std::string shell_quoted(const std::string& argument);

// Returns a command line quoted for a shell: imgpipe and its arguments.
[[nodiscard]] std::string command_text(const std::vector<std::string>& arguments);
// Returns this process's command line, starting with "imgpipe"; empty if the system does not report it.
[[nodiscard]] std::string command_text();

// Returns this process's peak resident memory (VmHWM, proc(5)), or 0 if the system does not report it.
[[nodiscard]] std::int64_t peak_memory_bytes();

}  // namespace imgpipe

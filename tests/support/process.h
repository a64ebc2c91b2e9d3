// Runs the imgpipe program like a user.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace imgpipe::test {

struct RunOptions {
  std::string input;                               // for stdin
  std::map<std::string, std::string> environment;  // added to the caller's
  std::optional<std::uint64_t> file_size_limit;    // RLIMIT_FSIZE, bytes
  std::optional<std::string> stdout_path;          // instead of a pipe
  std::map<long, int> failing_calls;               // system calls (SYS_fdatasync) that fail, and their errno
  std::optional<int> signal;                       // sent once signal_directory contains a temporary file
  std::string signal_directory;
  std::string directory;  // working directory
  int timeout_s = 60;
};

struct RunResult {
  int exit_code = -1;  // 128 + N after signal N
  bool signalled = false;
  bool timed_out = false;
  std::string out;
  std::string err;
  std::int64_t max_rss_bytes = 0;
  double seconds = 0;
};

[[nodiscard]] RunResult run_imgpipe(const std::vector<std::string>& arguments,
                                    const RunOptions& options = {});

// Runs a line of bash in `directory`, as a script stored there; returns its exit code. $I is the program.
[[nodiscard]] int run_bash(const std::string& line, const std::string& directory);

}  // namespace imgpipe::test

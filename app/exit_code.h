// The exit codes, as listed in docs/options.md.
#pragma once

#include <array>
#include <string_view>

#include "images/error.h"

namespace imgpipe {

enum ExitCode : int {
  kExitDone = 0,
  kExitInput = 1,
  kExitUsage = 2,
  kExitDevice = 3,
  kExitOutput = 4,
  kExitDifference = 5,
  kExitSignalBase = 128,
};

// The meaning of each exit code, for man pages. The row of kExitSignalBase covers SIGHUP, SIGINT and SIGTERM.
struct ExitMeaning {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};
inline constexpr std::array<ExitMeaning, 7> kExitMeanings{
    {{kExitDone, "0", "done"},
     {kExitInput, "1", "an input failed (a batch writes the other outputs), or not enough memory"},
     {kExitUsage, "2", "usage error, or nothing to do"},
     {kExitDevice, "3", "the requested device cannot be used"},
     {kExitOutput, "4", "an output cannot be written (disk full, read-only, closed pipe)"},
     {kExitDifference, "5",
      "a result differs: from the sequential reference, another image (diff), a report (verify) or the "
      "contract"},
     {kExitSignalBase, "129, 130, 143", "stopped by SIGHUP, SIGINT or SIGTERM"}}};

[[nodiscard]] constexpr int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return kExitUsage;
    case ErrorKind::device:
      return kExitDevice;
    case ErrorKind::output:
      return kExitOutput;
    case ErrorKind::input:
    case ErrorKind::memory:
      break;
  }
  return kExitInput;
}

}  // namespace imgpipe

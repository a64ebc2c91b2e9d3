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
     {kExitInput, "1", "an input failed (the others of a batch are written), or memory was short"},
     {kExitUsage, "2", "usage: what cannot be meant, or nothing to do"},
     {kExitDevice, "3", "the device asked for cannot be used"},
     {kExitOutput, "4", "the output side is broken (full, read-only, a closed pipe)"},
     {kExitDifference, "5", "something differs from the sequential reference"},
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

// The exit codes, as docs/options.md lists them.
#pragma once

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

// What imgpipe -h prints: usage, examples and the most used options, on one screen.
#pragma once

#include <string>

#include "app/options/command_row.h"

namespace imgpipe {

// At most 60 lines from 80 columns on.
[[nodiscard]] std::string brief_help(const CommandRow& command, int width);

}  // namespace imgpipe

// The text of imgpipe -h: usage, examples and the most used options, on one screen.
#pragma once

#include <string>

#include "app/options/command_row.h"

namespace imgpipe {

// Returns at most 60 lines if `width` is at least 80.
[[nodiscard]] std::string brief_help(const CommandRow& command, int width);

}  // namespace imgpipe

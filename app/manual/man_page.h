// Man pages, one a command, made of the tables of options, commands and stages.
#pragma once

#include <string>

#include "app/options/command_row.h"

namespace imgpipe {

// "imgpipe-bench"
[[nodiscard]] std::string man_name(const CommandRow& command);
// In roff, with the macros of man(7).
[[nodiscard]] std::string man_page(const CommandRow& command, Commands commands);

}  // namespace imgpipe

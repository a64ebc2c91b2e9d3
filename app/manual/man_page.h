// Man pages, one per command, generated from the tables of options, commands and stages.
#pragma once

#include <string>

#include "app/options/command_row.h"

namespace imgpipe {

// "imgpipe-bench"
[[nodiscard]] std::string man_name(const CommandRow& command);
// Returns roff with the macros of man(7).
[[nodiscard]] std::string man_page(const CommandRow& command, Commands commands);

}  // namespace imgpipe

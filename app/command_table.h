// The table of commands.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

// Returns the only list of commands, with the main command first.
[[nodiscard]] Commands command_table();

}  // namespace imgpipe

// The commands.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

// All of them, the main command first. The only list of commands.
[[nodiscard]] Commands command_table();

}  // namespace imgpipe

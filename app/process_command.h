// The main command: processes images, directories and stacks with a list of stages.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow process_command();

}  // namespace imgpipe

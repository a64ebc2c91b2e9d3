// The main command: images, directories and stacks through a list of stages.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow process_command();

}  // namespace imgpipe

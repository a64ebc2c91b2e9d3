// imgpipe devices: lists the processors, memory and devices of this machine.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow devices_command();

}  // namespace imgpipe

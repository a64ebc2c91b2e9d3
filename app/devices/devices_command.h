// imgpipe devices: what this machine offers.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow devices_command();

}  // namespace imgpipe

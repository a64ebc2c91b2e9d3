// The command imgpipe diff.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow diff_command();

}  // namespace imgpipe

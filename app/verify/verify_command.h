// The command imgpipe verify.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow verify_command();

}  // namespace imgpipe

// imgpipe info: describes image files from their headers.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow info_command();

}  // namespace imgpipe

// imgpipe info: what image files are, by their headers.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow info_command();

}  // namespace imgpipe

// imgpipe help and imgpipe docs.
#pragma once

#include <vector>

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] std::vector<OptionRow> manual_rows();
[[nodiscard]] CommandRow help_command();
[[nodiscard]] CommandRow docs_command();

}  // namespace imgpipe

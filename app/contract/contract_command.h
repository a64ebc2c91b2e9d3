// imgpipe contract: checks the pixels of thousands of results against published digests.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow contract_command();

}  // namespace imgpipe

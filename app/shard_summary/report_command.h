// imgpipe report: summarises the reports of shards.
#pragma once

#include "app/options/command_row.h"

namespace imgpipe {

[[nodiscard]] CommandRow report_command();

}  // namespace imgpipe

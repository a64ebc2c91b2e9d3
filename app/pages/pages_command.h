// imgpipe INPUT OUTPUT --pages all|A-B|A-: the pages of one input, to one stack or to a file each.
#pragma once

#include "app/command.h"

namespace imgpipe {

// Throws Error or returns an exit code, as run_image() does.
[[nodiscard]] int run_pages(const ProcessOptions& options, const EngineFactory& factory);

}  // namespace imgpipe

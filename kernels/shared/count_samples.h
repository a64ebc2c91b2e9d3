#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

// Adds the counts of the band's rows to `histogram`; for hist, and for each tile of clahe.
void hist_cpu(const StageCall<Host>& call, const Band& band);

}  // namespace imgpipe

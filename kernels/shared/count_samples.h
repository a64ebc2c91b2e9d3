// Counts samples on the host: hist, and clahe for each of its tiles.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

// Adds the counts of the band's rows to `histogram`.
void hist_cpu(const StageCall<Host>& call, const Band& band);
void hist16_cpu(const StageCall<Host>& call, const Band& band);

}  // namespace imgpipe

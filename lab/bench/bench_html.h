// imgpipe bench --html: the ladders as one page.
#pragma once

#include <string>
#include <vector>

#include "lab/bench/bench.h"

namespace imgpipe {

// The whole page (app/html/page.h): of every ladder that ran its plots and numbers, and of every variant its
// idea, its origin and its code. `devices`: a line each.
// `arguments`: those after "bench", for the page's head.
[[nodiscard]] std::string bench_html(const BenchOutcome& outcome, const std::vector<std::string>& devices,
                                     std::vector<std::string> arguments);

}  // namespace imgpipe

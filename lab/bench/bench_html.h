// imgpipe bench --html: a page about the ladders.
#pragma once

#include <string>
#include <vector>

#include "lab/bench/bench.h"

namespace imgpipe {

// Returns the whole page (app/html/page.h): plots and numbers of every ladder that ran, and the idea, origin
// and code of every variant. `devices` has one line per device; `arguments` are those after "bench".
[[nodiscard]] std::string bench_html(const BenchOutcome& outcome, const std::vector<std::string>& devices,
                                     std::vector<std::string> arguments);

}  // namespace imgpipe

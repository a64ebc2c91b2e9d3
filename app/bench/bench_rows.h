// What tables and plots of ladders have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/bench/bench.h"
#include "app/bench/bench_plot.h"

namespace imgpipe {

[[nodiscard]] std::string time_text(double us);
[[nodiscard]] const char* status_name(LabStatus status);
[[nodiscard]] std::string checked_text(const LabResult& result);
[[nodiscard]] const char* device_name(RungKind kind);

// What the ladder shows: its fastest right rung, and what the production kernel is against the yardsticks.
[[nodiscard]] std::vector<std::string> conclusions(const std::vector<BenchRow>& rows);
[[nodiscard]] DotPlot plot_of(const std::vector<BenchRow>& rows);
// Of a codec's ladder.
[[nodiscard]] ResultTable codec_table(const std::vector<BenchRow>& rows);

// True where --stage names it, or names nothing.
[[nodiscard]] bool asks_for(const BenchOptions& options, std::string_view ladder);

}  // namespace imgpipe

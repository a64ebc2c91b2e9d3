// What tables and plots of ladders have in common.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/bench/bench.h"
#include "lab/bench/bench_plot.h"

namespace imgpipe {

[[nodiscard]] std::string time_text(double us);
[[nodiscard]] const char* status_name(LabStatus status);
[[nodiscard]] std::string checked_text(const LabResult& result);
[[nodiscard]] const char* device_name(RungKind kind);

// What plots tell apart, by number.
inline constexpr std::array<const char*, 5> kRowKinds{"on the CPU", "on CUDA", "another library",
                                                      "production, on CUDA", "your own, on CUDA"};
[[nodiscard]] int row_kind(const BenchRow& row);

// Of the variants of --with: on what they were right.
[[nodiscard]] std::vector<std::string> own_notes(const std::vector<BenchRow>& rows);
// What the ladder shows: its fastest right rung, and what the production kernel is against the yardsticks.
[[nodiscard]] std::vector<std::string> conclusions(const std::vector<BenchRow>& rows);
[[nodiscard]] DotPlot plot_of(const std::vector<BenchRow>& rows);
// Of a ladder of any kind.
[[nodiscard]] ResultTable table_of(const std::vector<BenchRow>& rows);

// A row of any ladder's table, as --list shows it.
struct ListedVariant {
  std::string_view stage, ladder;  // of --stage; for people
  const Variant* variant;
  RungKind kind;
  std::string needs;
  const Rung* rung = nullptr;  // of ladders of stages
};
// Those of these ladders of stages, of transfers, of codecs.
[[nodiscard]] std::vector<ListedVariant> all_variants(std::span<const Ladder> ladders);

// True where --stage names it, or names nothing.
[[nodiscard]] bool asks_for(const BenchOptions& options, std::string_view ladder);

}  // namespace imgpipe

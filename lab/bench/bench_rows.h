// Shared by the tables and plots of ladders.
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
[[nodiscard]] const char* device_name(VariantKind kind);

// The kinds of rows that plots distinguish, by index.
inline constexpr std::array<const char*, 5> kRowKinds{"on the CPU", "on CUDA", "another library",
                                                      "production, on CUDA", "user-provided, on CUDA"};
[[nodiscard]] int row_kind(const BenchRow& row);

// Returns notes that state on how many small images the variants of --with were correct.
[[nodiscard]] std::vector<std::string> user_variant_notes(const std::vector<BenchRow>& rows);
// States the fastest correct variant, and the times of baselines and users' variants relative to production.
[[nodiscard]] std::vector<std::string> conclusions(const std::vector<BenchRow>& rows);
[[nodiscard]] DotPlot plot_of(const std::vector<BenchRow>& rows);
// Accepts rows of any ladder.
[[nodiscard]] ResultTable table_of(const std::vector<BenchRow>& rows);

// A row of any ladder's table, as --list shows it.
struct ListedVariant {
  std::string_view stage, ladder;  // for --stage; for display
  const Variant* variant;
  VariantKind kind;
  std::string needs;
  const StageVariant* stage_variant = nullptr;  // for ladders of stages
};
// Returns the variants of `ladders`, of transfers and of codecs.
[[nodiscard]] std::vector<ListedVariant> all_variants(std::span<const Ladder> ladders);

// Whether --stage names the ladder or is absent.
[[nodiscard]] bool is_requested(const BenchOptions& options, std::string_view ladder);

}  // namespace imgpipe

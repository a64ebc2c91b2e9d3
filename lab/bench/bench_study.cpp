// Two studies of hist: the effect of the number of values in an image, and of equal neighbouring pixels.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "app/log.h"
#include "app/report/text_columns.h"
#include "images/error.h"
#include "lab/bench/bench.h"
#include "lab/bench/bench_plot.h"

namespace imgpipe {
namespace {

// The variants' rates under the conditions of a study; 0 for one that was not timed.
struct Rates {
  std::vector<std::string> variants;  // in the order of the ladder
  std::map<std::string, std::vector<double>> gb_per_s;
  bool all_right = true;

  void add(const BenchRow& row, std::size_t condition, std::size_t conditions) {
    all_right = all_right && row.result.status != LabStatus::wrong;
    if (row.result.status == LabStatus::wrong) log_error(row.variant + " is WRONG: " + row.result.detail);
    if (!row.result.timed()) return;
    auto& rates = gb_per_s[row.variant];
    if (rates.empty()) {
      rates.resize(conditions);
      // Rows of both subjects, grey and RGB, come in the ladder's order.
      variants.push_back(row.variant);
    }
    rates[condition] = row.rate() / 1e9;
  }
};

ResultTable table_of(const Rates& rates, const std::vector<std::string>& conditions,
                     const std::string& size) {
  ResultTable table;
  table.columns = {{"size", "", true}, {"variant", "variant", true}};
  for (const std::string& condition : conditions)
    table.columns.push_back({condition + "_gb_per_s", condition});
  table.columns.push_back({"slowest_of_fastest", "slowest/fastest"});
  for (const std::string& variant : rates.variants) {
    const std::vector<double>& values = rates.gb_per_s.at(variant);
    std::vector<TableCell> cells{size, variant};
    for (const double value : values)
      cells.push_back(value > 0 ? TableCell(value, value < 100 ? 2 : 0) : TableCell("-"));
    const auto [least, most] = std::ranges::minmax(values);
    cells.push_back(least > 0 ? TableCell(least / most, 3) : TableCell("-"));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// Selects the study's variants: those of --variant, else those in `usual`, else all.
std::function<bool(const StageVariant&)> wanted_of(const Bench& bench, const BenchOptions& options,
                                                   const std::vector<std::string_view>& usual) {
  return [&bench, &options, usual](const StageVariant& stage_variant) {
    if (!options.variants.empty()) return bench.wants(stage_variant.name);
    return usual.empty() || std::ranges::find(usual, stage_variant.name) != usual.end();
  };
}

void require_results(const Rates& rates) {
  if (rates.variants.empty()) throw Error(ErrorKind::usage, "none of these variants of hist can run here");
}

const Ladder& hist() {
  return *find_ladder("hist");
}

std::string text_of(Shape size) {
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

}  // namespace

double mean_collisions(const Image& grey) {
  constexpr std::int64_t kGroup = 32;
  const ConstHostPlane pixels = grey.view();
  std::int64_t groups = 0;
  std::int64_t sum = 0;
  std::array<int, kBins> counts{};
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    const Sample8* row = pixels.row(y);
    for (std::int64_t x = 0; x < pixels.width; x += kGroup) {
      const std::int64_t end = std::min(x + kGroup, pixels.width);
      int most = 0;
      for (std::int64_t i = x; i < end; ++i) most = std::max(most, ++counts[row[i]]);
      for (std::int64_t i = x; i < end; ++i) counts[row[i]] = 0;
      sum += most;
      ++groups;
    }
  }
  return groups == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(groups);
}

BenchOutcome study_colors(Bench& bench, const BenchOptions& options, const ShowTable& show) {
  const std::vector<Shape> sizes = options.sizes.empty()
                                       ? std::vector<Shape>{{640, 426, 3}, {3840, 2160, 3}, {8773, 5352, 3}}
                                       : options.sizes;
  constexpr std::array kColors{1, 2, 5, 256};
  std::vector<std::string> conditions;
  conditions.reserve(kColors.size());
  for (const int colors : kColors)
    conditions.push_back(std::to_string(colors) + (colors == 1 ? " color" : " colors"));
  BenchOutcome outcome;
  std::vector<DotPlot> panels;
  for (const Shape& size : sizes) {
    Rates rates;
    for (std::size_t i = 0; i < kColors.size(); ++i) {
      const BenchInput input(parse_pattern("colors:" + std::to_string(kColors[i])), size);
      for (const BenchRow& row : bench.run(hist(), input, wanted_of(bench, options, {})))
        rates.add(row, i, kColors.size());
    }
    if (bench.is_stopped() && rates.variants.empty()) break;
    require_results(rates);
    outcome.all_right = outcome.all_right && rates.all_right;
    ResultTable table = table_of(rates, conditions, text_of(size));
    table.title = "hist, " + text_of(size) + ", GB/s by the number of colors";
    show(table);
    DotPlot plot{"hist, " + text_of(size) + ": cost of the number of colours", "GB/s", rates.variants, {}};
    for (std::size_t i = 0; i < kColors.size(); ++i) {
      plot.dots.push_back({conditions[i], {}});
      for (const std::string& variant : rates.variants)
        plot.dots.back().values.push_back(rates.gb_per_s[variant][i]);
    }
    panels.push_back(std::move(plot));
    outcome.tables.push_back(std::move(table));
  }
  outcome.plot = plot_svg(panels);
  return outcome;
}

BenchOutcome study_contention(Bench& bench, const BenchOptions& options, const ShowTable& show) {
  const Shape size = options.sizes.empty() ? Shape{3840, 2160, 3} : options.sizes.front();
  if (options.sizes.size() > 1) throw Error(ErrorKind::usage, "--study: contention needs a single --size");
  const auto wanted = wanted_of(bench, options,
                                {"cpu-private", "cpu-bins", "cpu", "global-stride", "shared-words",
                                 "non-atomic", "columns", "replicated", "cub", "production"});
  constexpr int kStep = 5;
  BenchOutcome outcome;

  // Throughput as a function of the threshold.
  std::vector<int> thresholds;
  for (int threshold = 0; threshold <= kMaxSample; threshold += kStep) thresholds.push_back(threshold);
  Rates rates;
  std::vector<double> collisions;
  for (std::size_t i = 0; i < thresholds.size() && !bench.is_stopped(); ++i) {
    const BenchInput input(parse_pattern("threshold:" + std::to_string(thresholds[i])), size);
    collisions.push_back(mean_collisions(input.make(1)));
    for (const BenchRow& row : bench.run(hist(), input, wanted)) rates.add(row, i, thresholds.size());
    log_detail("threshold " + std::to_string(thresholds[i]) + ": " + number(collisions.back(), 2) +
               " of 32 meet");
  }
  thresholds.resize(collisions.size());  // fewer if stopped
  if (bench.is_stopped() && rates.variants.empty()) return outcome;
  require_results(rates);
  ResultTable table;
  table.title = "hist, noise " + text_of(size) + " with all values below the threshold set to 0, GB/s";
  table.columns = {{"threshold", "threshold"}, {"of_32_meet", "of 32 meet"}, {"model", "model"}};
  for (const std::string& variant : rates.variants) table.columns.push_back({variant + "_gb_per_s", variant});
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    std::vector<TableCell> cells{
        {static_cast<double>(thresholds[i]), 0}, {collisions[i], 2}, {collisions.front() / collisions[i], 3}};
    for (const std::string& variant : rates.variants) cells.emplace_back(rates.gb_per_s[variant][i], 2);
    table.rows.push_back(std::move(cells));
  }
  table.notes = {
      "of 32 meet: the most frequent value among 32 neighbouring pixels, on average; model: its inverse, "
      "relative to threshold 0"};
  show(table);
  outcome.tables.push_back(table);

  LinePlot plot{"hist, noise " + text_of(size) + ", values below the threshold set to 0",
                "threshold",
                "GB/s",
                false,
                true,
                {}};
  LinePlot relative{"the same, relative to each variant at threshold 0", "threshold", "", false, false, {}};
  const auto add = [&](LinePlot& to, const std::string& name, bool dashed, const auto& value_at) {
    PlotSeries series{name, {}, dashed};
    for (std::size_t i = 0; i < thresholds.size(); ++i)
      series.points.emplace_back(thresholds[i], value_at(i));
    to.series.push_back(std::move(series));
  };
  for (const std::string& variant : rates.variants) {
    const std::vector<double>& values = rates.gb_per_s[variant];
    const bool dashed = variant == "non-atomic";
    add(plot, variant, dashed, [&](std::size_t i) { return values[i]; });
    add(relative, variant, dashed, [&](std::size_t i) { return values[i] / values.front(); });
  }
  add(relative, "model: 1 / most frequent of 32", true,
      [&](std::size_t i) { return collisions.front() / collisions[i]; });
  outcome.plot = plot_svg(std::vector<LinePlot>{plot, relative});

  // Patterns with and without equal neighbours.
  const std::vector<std::string> patterns{"collision-free", "noise", "photo", "constant:77"};
  Rates others;
  std::vector<std::string> conditions;
  for (std::size_t i = 0; i < patterns.size() && !bench.is_stopped(); ++i) {
    const BenchInput input(parse_pattern(patterns[i]), size);
    conditions.push_back(patterns[i] + " (" + number(mean_collisions(input.make(1)), 1) + " meet)");
    for (const BenchRow& row : bench.run(hist(), input, wanted)) others.add(row, i, patterns.size());
  }
  outcome.all_right = rates.all_right && others.all_right;
  if (others.variants.empty()) return outcome;  // stopped
  ResultTable images = table_of(others, patterns, text_of(size));
  for (std::size_t i = 0; i < conditions.size(); ++i) images.columns[i + 2].title = conditions[i];
  images.title = "hist, " + text_of(size) + ", GB/s; collision-free: no value twice among 32 neighbours";
  show(images);
  outcome.tables.push_back(std::move(images));
  return outcome;
}

}  // namespace imgpipe

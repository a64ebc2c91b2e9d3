#include "lab/bench/bench_html.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "app/html/html_text.h"
#include "app/html/page.h"
#include "app/html/row_chart.h"
#include "app/report/text_columns.h"
#include "app/run_context.h"
#include "app/version.h"
#include "lab/bench/bench_rows.h"
#include "lab/bench/variant_source.h"
#include "lab/pipeline/lab_transfer.h"

namespace imgpipe {
namespace {

std::string name_of(const BenchRow& row) {
  return row.variant + (row.result.status == LabStatus::right ? "" : " (wrong)");
}

std::vector<HtmlPage::LegendEntry> legend_of(const std::vector<BenchRow>& rows) {
  std::vector<HtmlPage::LegendEntry> legend;
  for (std::size_t i = 0; i < kRowKinds.size(); ++i) {
    if (std::ranges::any_of(rows, [&](const BenchRow& row) {
          return row.result.timed() && row_kind(row) == static_cast<int>(i);
        }))
      legend.push_back({"s" + std::to_string(i), kRowKinds[i]});
  }
  return legend;
}

// Returns the times that the devices' own copies of these bytes take: lower bounds for images that are not in
// a cache.
std::vector<RowChart::Limit> limits_of(const std::vector<BenchRow>& rows) {
  std::vector<RowChart::Limit> limits;
  if (rows.front().images > 0 || rows.front().stage == kTransferLadder) return limits;
  for (const bool cuda : {false, true}) {
    const auto row = std::ranges::find_if(rows, [&](const BenchRow& each) {
      return each.result.timed() && (each.kind == VariantKind::cuda) == cuda && each.copy_bandwidth > 0 &&
             each.bytes > 0;
    });
    if (row == rows.end()) continue;
    const double us = 1e6 * static_cast<double>(row->bytes) / row->copy_bandwidth;
    limits.push_back(
        {std::string("memory of the ") + (cuda ? "GPU: " : "CPU: ") + time_text(us) + " us", us});
  }
  return limits;
}

void add_times(HtmlPage& page, const std::vector<BenchRow>& rows) {
  RowChart chart;
  chart.label = "Time of each variant of " + rows.front().stage;
  chart.unit = "microseconds, logarithmic: median, and from the least to the most";
  chart.bars = false;
  chart.logarithmic = true;
  chart.limits = limits_of(rows);
  for (const BenchRow& row : rows) {
    if (!row.result.timed()) continue;
    const double us = row.result.median_us();
    chart.rows.push_back({name_of(row),
                          {{.series = row_kind(row),
                            .value = us,
                            .least = row.result.times_us.front(),
                            .most = row.result.times_us.back(),
                            .text = time_text(us) + " us"}}});
  }
  if (chart.rows.empty()) return;
  std::vector<HtmlPage::LegendEntry> legend = legend_of(rows);
  if (!chart.limits.empty())
    legend.push_back({"limit", "memory limit: the device copies the same number of bytes"});
  page.figure("Time of each variant", row_chart_svg(chart), legend);
}

void add_speed_ups(HtmlPage& page, const std::vector<BenchRow>& rows) {
  const auto first = std::ranges::find_if(rows, [](const BenchRow& row) { return row.result.timed(); });
  if (first == rows.end() || first->stage == kTransferLadder) return;
  RowChart chart;
  chart.label = "Speed-up of each variant over " + first->variant;
  chart.unit = "times as fast as " + first->variant + ", logarithmic";
  chart.logarithmic = true;
  for (const BenchRow& row : rows) {
    if (!row.result.timed()) continue;
    const double factor = first->result.median_us() / row.result.median_us();
    chart.rows.push_back(
        {name_of(row), {{.series = row_kind(row), .value = factor, .text = number(factor, 2) + "x"}}});
  }
  if (chart.rows.size() > 1)
    page.figure("Speed-up over " + first->variant, row_chart_svg(chart), legend_of(rows));
}

void add_variant(HtmlPage& page, const BenchRow& row) {
  std::string text = row.variant;
  if (row.result.timed()) text += ", " + time_text(row.result.median_us()) + " us";
  page.heading(4, text);
  page.paragraph(std::string(row.idea) + ".");
  page.paragraph("From: " + std::string(row.origin) + ". Checked: " + checked_text(row.result) + ".", "note");
  const VariantSource source = row.own == nullptr
                                   ? variant_source(row.stage, row.variant)
                                   : user_source(row.own->file, *row.own->text, row.stage, row.variant);
  if (source.path.empty()) return;
  page.add(element(
      "details",
      element("summary", "Code: " + element("code", html(source.functions)) + " in " + html(source.path)) +
          element("pre", element("code", html_lines(source.text)), " tabindex=\"0\"")));
}

}  // namespace

std::string bench_html(const BenchOutcome& outcome, const std::vector<std::string>& devices,
                       std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  const BuildInfo build = build_info();
  const RunContext position = run_context();
  HtmlPage page("imgpipe: the kernel lab");
  std::vector<std::pair<std::string, std::string>> facts{
      {"Command", command_text(arguments)},
      {"Program", "imgpipe " + build.version + ", commit " + build.commit + ", " + build.build_type +
                      " build, CUDA " + build.cuda},
      {"Date", position.date},
      {"Host", position.host}};
  for (const std::string& device : devices) facts.emplace_back("Device", device);
  page.facts(facts);
  page.paragraph(
      "Every variant was compared with the sequential reference, byte for byte, before it was timed; a "
      "variant that differs is not timed unless it is declared to differ. Lower times are better.");
  for (std::size_t i = 0; i < outcome.ladders.size(); ++i) {
    const std::vector<BenchRow>& rows = outcome.ladders[i];
    page.heading(2, outcome.tables[i].title.substr(0, outcome.tables[i].title.find(';')));
    add_times(page, rows);
    add_speed_ups(page, rows);
    page.table(outcome.tables[i], "All numbers");
    page.heading(3, "The variants, oldest first");
    for (const BenchRow& row : rows) add_variant(page, row);
  }
  return page.text();
}

}  // namespace imgpipe

#include "app/html/image_report_html.h"

#include <algorithm>
#include <utility>

#include "app/html/html_text.h"
#include "app/html/page.h"
#include "app/html/page_style.h"
#include "app/html/row_chart.h"
#include "app/html/timeline_chart.h"
#include "app/report/histogram_drawing.h"
#include "app/report/report_tables.h"
#include "app/report/svg.h"
#include "app/report/text_columns.h"
#include "app/standard_streams.h"
#include "app/version.h"
#include "images/text.h"

namespace imgpipe {
namespace {

// ---- facts about the run ------------------------------------------------------------------------------

void add_facts(HtmlPage& page, const ImageReport& report, const RunFacts& facts, const ReportPage& more) {
  const ProcessOptions& options = *facts.options;
  const BuildInfo build = build_info();
  std::string device = report.implementation + " on " + report.processor;
  if (!report.device_why.empty()) device += "; " + report.device_why;
  std::vector<std::pair<std::string, std::string>> rows{
      {"Command", facts.command},
      {"Program", "imgpipe " + build.version + ", commit " + build.commit + ", " + build.build_type +
                      " build, CUDA " + build.cuda},
      {"Date", more.context.date},
      {"Host", more.context.host},
      {"Device", device}};
  if (report.copy_bandwidth_gb_s > 0)
    rows.emplace_back("Copy bandwidth", number(report.copy_bandwidth_gb_s, 1) + " GB/s, read and written");
  rows.emplace_back("Input", input_name(options.input.path) + ": " + contents_text(facts, false) + ", " +
                                 bytes_text(facts.input_bytes));
  rows.emplace_back("Output", output_name(options.output.path) + ": " + contents_text(facts, true) + ", " +
                                  bytes_text(facts.output_bytes));
  for (const AlsoFacts& also : facts.also)
    rows.emplace_back("Also", also_text(facts, also) + ", " + bytes_text(also.bytes));
  if (more.peak_memory_bytes > 0)
    rows.emplace_back("Memory", bytes_text(more.peak_memory_bytes) + " peak on the host");
  for (const ContrastRange& range : report.ranges) rows.emplace_back("Range", range_text(range));
  for (const OutsideCounts& counts : report.outside) rows.emplace_back("Outside", outside_text(counts));
  if (report.compared)
    rows.emplace_back("Compared", report.identical ? "every stage is identical to the sequential reference"
                                                   : "a stage DIFFERS from the sequential reference");
  page.facts(rows);
  for (const std::string& warning : more.warnings) page.paragraph(warning, "bad");
}

// ---- pictures -----------------------------------------------------------------------------------------

std::string picture_figure(const std::string& name, const ReportPage::Side& side) {
  if (!side.picture)
    return element("figure", element("figcaption", html(name + ": no image (" + side.missing_reason + ")")));
  const Picture& picture = *side.picture;
  const std::string alt = name + ", " + shape_text(picture.shape);
  std::string image = "<img alt=\"" + html(alt) + "\" width=\"" + std::to_string(picture.small.width) +
                      "\" height=\"" + std::to_string(picture.small.height) +
                      "\" src=\"data:image/png;base64," + picture.png + "\">\n";
  return element("figure", element("figcaption", html(alt)) + image);
}

// ---- times --------------------------------------------------------------------------------------------

RowChart::Mark mark_of(int series, double value, const std::string& text) {
  return {.series = series, .value = value, .least = {}, .most = {}, .text = text};
}

void add_times(HtmlPage& page, const ImageReport& report) {
  RowChart chart{.label = "Time of each step", .unit = "ms", .rows = {}, .limits = {}};
  bool has_reference = false;
  for (const auto* rows : {&report.rows, &report.totals}) {
    for (const ReportRow& row : *rows) {
      RowChart::Row& added = chart.rows.emplace_back(RowChart::Row{row.name, {}});
      added.marks.push_back(mark_of(0, row.time_ms, milliseconds_text(row.time_ms) + " ms"));
      if (!row.reference_ms) continue;
      added.marks.push_back(mark_of(1, *row.reference_ms, milliseconds_text(*row.reference_ms) + " ms"));
      has_reference = true;
    }
  }
  std::vector<HtmlPage::LegendEntry> legend{{"s0", report.implementation}};
  if (has_reference) legend.push_back({"s1", "sequential reference"});
  page.figure("Time of each step and in all", row_chart_svg(chart), legend);
}

void add_rates(HtmlPage& page, const ImageReport& report) {
  RowChart chart{.label = "Bytes moved per second by each step",
                 .unit = "GB/s, read and written",
                 .rows = {},
                 .limits = {}};
  for (const ReportRow& row : report.rows) {
    if (!row.gb_per_s || row.kind != SpanKind::kernel) continue;
    chart.rows.push_back({row.name, {mark_of(0, *row.gb_per_s, number(*row.gb_per_s, 2) + " GB/s")}});
    if (row.copy_share) chart.rows.back().marks.back().text += ", " + number(*row.copy_share * 100, 1) + "%";
  }
  if (chart.rows.empty()) return;
  std::vector<HtmlPage::LegendEntry> legend{{"s0", report.implementation}};
  if (report.copy_bandwidth_gb_s > 0) {
    chart.limits.push_back({"the device's own copy", report.copy_bandwidth_gb_s});
    legend.push_back({"limit", "limit: the device's copy bandwidth; percentages are relative to it"});
  }
  page.figure("Bytes moved per second by each stage", row_chart_svg(chart), legend);
}

// Adds each row's share of the end-to-end time, which is the last row.
ResultTable row_shares(const ImageReport& report) {
  ResultTable table = row_table(report);
  constexpr int kAfterTime = 2;
  table.columns.insert(table.columns.begin() + kAfterTime, {"share", "of end to end"});
  const double end_to_end_ms = report.totals.empty() ? 0 : report.totals.back().time_ms;
  for (auto& row : table.rows) {
    const double time_ms = row[kAfterTime - 1].value.value_or(0);
    row.insert(row.begin() + kAfterTime,
               end_to_end_ms > 0 ? TableCell(time_ms / end_to_end_ms, 1, 100, "%") : TableCell());
  }
  return table;
}

// ---- timelines ----------------------------------------------------------------------------------------

struct SpanNames {
  std::vector<std::string> names;  // in order of first appearance
  // Names beyond the number of colours share the last colour.
  [[nodiscard]] int series_of(const std::string& name) const {
    return std::min(static_cast<int>(std::ranges::find(names, name) - names.begin()), kSeriesColors - 1);
  }
};

void add_timeline(HtmlPage& page, const std::string& caption, const TimelineChart& chart,
                  const SpanNames& names) {
  std::vector<std::vector<std::string>> by_series(kSeriesColors);
  bool has_faint = false;
  for (const TimelineChart::Bar& bar : chart.bars) {
    if (bar.end_ms < chart.from_ms || bar.start_ms > chart.to_ms) continue;
    std::vector<std::string>& known = by_series[static_cast<std::size_t>(names.series_of(bar.name))];
    if (std::ranges::find(known, bar.name) == known.end()) known.push_back(bar.name);
    has_faint = has_faint || bar.faint;
  }
  std::vector<HtmlPage::LegendEntry> legend;
  for (std::size_t i = 0; i < by_series.size(); ++i) {
    std::string text;
    for (const std::string& name : by_series[i]) text += (text.empty() ? "" : ", ") + name;
    if (!text.empty()) legend.push_back({"s" + std::to_string(i), text});
  }
  if (has_faint) legend.push_back({"faint", "paler: the warm-up"});
  page.figure(caption, timeline_chart_svg(chart), legend);
  if (const std::size_t more = tracks_left_out(chart); more > 0)
    page.paragraph(std::to_string(more) + (more == 1 ? " track more is" : " tracks more are") + " not drawn.",
                   "note");
}

// Returns the time range of the device's or threads' work in the first counted pass, which may be a small
// part of the run.
std::pair<double, double> stages_ms(const ImageReport& report) {
  double from = 1e300, to = 0;
  for (const Span& span : report.spans) {
    if (span.kind == SpanKind::host || span.pass != 0) continue;
    from = std::min(from, static_cast<double>(span.start_ns) / kNsPerMs);
    to = std::max(to, static_cast<double>(span.end_ns) / kNsPerMs);
  }
  return {from, to};
}

void add_timelines(HtmlPage& page, const ImageReport& report) {
  TimelineChart chart{.label = "Timeline, by track", .from_ms = 0, .to_ms = 0, .bars = {}};
  SpanNames names;
  std::vector<Span> ordered = report.spans;
  std::ranges::stable_sort(ordered, {}, &Span::start_ns);
  for (const Span& span : ordered) {
    if (std::ranges::find(names.names, span.name) == names.names.end()) names.names.push_back(span.name);
  }
  for (const Span& span : ordered) {
    chart.bars.push_back({span.track, span.name, names.series_of(span.name),
                          static_cast<double>(span.start_ns) / kNsPerMs,
                          static_cast<double>(span.end_ns) / kNsPerMs, span.pass == kWarmUpPass});
    chart.to_ms = std::max(chart.to_ms, chart.bars.back().end_ms);
  }
  add_timeline(page, "The whole run", chart, names);
  const auto [from, to] = stages_ms(report);
  if (to > from && to - from < 0.4 * chart.to_ms) {
    chart.from_ms = from;
    chart.to_ms = to;
    chart.label = "Timeline of the stages, by track";
    add_timeline(page, "The stages alone, from " + milliseconds_text(from) + " ms on", chart, names);
  }
  page.table(span_table(ordered), "Every span, as a table", true);
}

// ---- histogram ----------------------------------------------------------------------------------------

void add_histogram(HtmlPage& page, const HistogramPair& pair) {
  page.heading(2, "Histogram");
  const HistogramDrawing drawing = histogram_drawing(pair);
  // The page has its own headings, so crop the drawing's title.
  const std::string moved = "<g transform=\"translate(0 -" + std::to_string(drawing.title_height) + ")\">\n" +
                            drawing.elements + "</g>\n";
  page.figure("Values of the samples before and after",
              page_drawing(drawing.width, drawing.height - drawing.title_height,
                           "Histograms before and after", moved),
              {});
  page.table(histogram_table(pair), "The counts, as a table", true);
}

}  // namespace

std::string image_report_html(const ImageReport& report, const RunFacts& facts, const ReportPage& more) {
  HtmlPage page("imgpipe: " + shortened(input_name(facts.options->input.path), 80));
  page.heading(2, "Run");
  add_facts(page, report, facts, more);
  page.heading(2, "Images");
  page.add(element("div", picture_figure("Input", more.input) + picture_figure("Output", more.output),
                   " class=\"pictures\""));
  page.heading(2, "Times");
  if (facts.options->reports.repeat > 0)
    page.paragraph("Times: " + repeat_text(facts.options->reports.repeat, report.compared) + ".", "note");
  add_times(page, report);
  page.table(row_shares(report), "Each step and the total");
  add_rates(page, report);
  page.heading(2, "Timeline");
  add_timelines(page, report);
  if (more.histogram) add_histogram(page, *more.histogram);
  return page.text();
}

}  // namespace imgpipe

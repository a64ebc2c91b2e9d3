#include "app/report/report_tables.h"

#include <algorithm>

#include "app/report/fields.h"
#include "app/report/report_parts.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxSpans = 2000;
constexpr int kRows = 256;  // of a histogram table

std::uint64_t count_of(const Counts& counts, int plane, int row) {
  const int values = counts.bins() / kRows;
  std::uint64_t count = 0;
  for (int i = 0; i < values; ++i) count += counts.at(plane, row * values + i);
  return count;
}

}  // namespace

void add_time_row(Fields& fields, const ReportRow& row) {
  const std::string megabytes = row.bytes > 0 ? number(static_cast<double>(row.bytes) / 1e6, 2) : "";
  const std::string reference = row.reference_ms ? milliseconds_text(*row.reference_ms) : "";
  fields.add("name", row.name).column("step");
  fields.add("kind", kind_name(row.kind), kSpanKinds);
  fields.add("time_ms", row.time_ms).column("time ms", milliseconds_text(row.time_ms));
  fields.add("bytes", row.bytes).column("MB", megabytes);
  fields.add("gb_per_s", row.gb_per_s, kAnyNumber).column("GB/s", 2);
  fields.add("copy_bandwidth_share", row.copy_share, kAnyNumber).column("of copy", 1, 100, "%");
  fields.add("reference_ms", row.reference_ms, kAnyNumber).column("reference ms", reference);
  fields.add("speed_up", row.speed_up(), kAnyNumber).column("speed-up", 2, 1, "x");
  fields.add("comparison", given(row.comparison)).words("compared", row.comparison);
}

void add_span(Fields& fields, const Span& span) {
  const std::string pass = span.pass == kWarmUpPass ? "warm-up" : std::to_string(span.pass + 1);
  fields.add("name", span.name).column("step");
  fields.add("track", span.track).column("track");
  fields.add("kind", kind_name(span.kind), kSpanKinds);
  fields.add("pass", span.pass, kAnyNumber).words("pass", pass);
  fields.add("start_ms", static_cast<double>(span.start_ns) / kNsPerMs, kAnyNumber).column("from ms", 4);
  fields.add("end_ms", static_cast<double>(span.end_ns) / kNsPerMs, kAnyNumber).column("to ms", 4);
  fields.add("bytes", span.bytes).column("MB", 2, 1e-6);
}

ResultTable row_table(const ImageReport& report) {
  std::vector<ReportRow> rows = report.rows;
  rows.insert(rows.end(), report.totals.begin(), report.totals.end());
  ResultTable table = table_of(rows, add_time_row);
  constexpr std::size_t kComparisonColumns = 3;
  if (!report.compared)
    for (TableColumn& column : std::span(table.columns).last(kComparisonColumns)) column.title.clear();
  return table;
}

ResultTable span_table(std::span<const Span> spans) {
  ResultTable table = table_of(spans.first(std::min(spans.size(), kMaxSpans)), add_span);
  if (spans.size() > kMaxSpans)
    table.notes.push_back(with_separators(spans.size() - kMaxSpans) + " more spans are in the JSON report");
  return table;
}

ResultTable histogram_table(const HistogramPair& pair) {
  ResultTable table;
  const bool deep = pair.before.bins() > kRows || pair.after.bins() > kRows;
  const bool floats = is_float(pair.before.sample) || is_float(pair.after.sample);
  table.columns = {{"bin",
                    deep     ? "value (of 16 bits the upper 8)"
                    : floats ? "value, or bin of floats"
                             : "value",
                    true}};
  const auto add_columns = [&](const Counts& counts, const std::string& when) {
    for (const std::string& name : plane_names(counts))
      table.columns.push_back(
          {std::string(when).append("_").append(name), std::string(when).append(", ").append(name)});
  };
  add_columns(pair.before, "before");
  add_columns(pair.after, "after");
  for (int row = 0; row < kRows; ++row) {
    std::vector<TableCell> cells{std::to_string(row)};
    for (const Counts* counts : {&pair.before, &pair.after}) {
      for (int plane = 0; plane < counts->planes(); ++plane)
        cells.emplace_back(static_cast<double>(count_of(*counts, plane, row)), 0);
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace imgpipe

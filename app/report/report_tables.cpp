#include "app/report/report_tables.h"

#include <algorithm>
#include <optional>

#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMostSpans = 2000;
constexpr int kRows = 256;  // of a histogram

TableCell milliseconds(double ms) {
  TableCell cell(ms, 4);
  cell.text = milliseconds_text(ms);
  return cell;
}

TableCell megabytes(std::int64_t bytes) {
  TableCell cell(static_cast<double>(bytes), 0);
  cell.text = number(static_cast<double>(bytes) / 1e6, 2);
  return cell;
}

TableCell cell_of(const std::optional<double>& value, int decimals, double scale = 1, const char* unit = "") {
  return value ? TableCell(*value, decimals, scale, unit) : TableCell();
}

std::uint64_t count_of(const Counts& counts, int plane, int row) {
  const int values = counts.bins() / kRows;
  std::uint64_t count = 0;
  for (int i = 0; i < values; ++i) count += counts.at(plane, row * values + i);
  return count;
}

}  // namespace

ResultTable row_table(const ImageReport& report) {
  ResultTable table;
  table.columns = {{"name", "step", true}, {"time_ms", "time ms"}, {"share", "of end to end"},
                   {"bytes", "MB"},        {"gb_per_s", "GB/s"},   {"copy_bandwidth_share", "of copy"}};
  if (report.compared) {
    table.columns.push_back({"reference_ms", "reference ms"});
    table.columns.push_back({"speed_up", "speed-up"});
    table.columns.push_back({"comparison", "compared", true});
  }
  const double end_to_end_ms = report.totals.empty() ? 0 : report.totals.back().time_ms;
  for (const auto* rows : {&report.rows, &report.totals}) {
    for (const ReportRow& row : *rows) {
      std::vector<TableCell> cells{row.name, milliseconds(row.time_ms)};
      cells.push_back(end_to_end_ms > 0 ? TableCell(row.time_ms / end_to_end_ms, 1, 100, "%") : TableCell());
      cells.push_back(row.bytes > 0 ? megabytes(row.bytes) : TableCell());
      cells.push_back(cell_of(row.gb_per_s, 2));
      cells.push_back(cell_of(row.copy_share, 1, 100, "%"));
      if (report.compared) {
        cells.push_back(row.reference_ms ? milliseconds(*row.reference_ms) : TableCell());
        cells.push_back(cell_of(row.speed_up(), 2, 1, "x"));
        cells.emplace_back(row.comparison);
      }
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

ResultTable span_table(std::span<const Span> spans) {
  ResultTable table;
  table.columns = {{"name", "step", true},  {"track", "track", true}, {"pass", "pass", true},
                   {"start_ms", "from ms"}, {"end_ms", "to ms"},      {"bytes", "MB"}};
  for (const Span& span : spans.first(std::min(spans.size(), kMostSpans))) {
    table.rows.push_back({span.name, span.track,
                          span.pass == kWarmUpPass ? "warm-up" : std::to_string(span.pass + 1),
                          TableCell(static_cast<double>(span.start_ns) / 1e6, 4),
                          TableCell(static_cast<double>(span.end_ns) / 1e6, 4),
                          TableCell(static_cast<double>(span.bytes), 2, 1e-6)});
  }
  if (spans.size() > kMostSpans)
    table.notes.push_back(with_separators(spans.size() - kMostSpans) + " more spans are in the JSON report");
  return table;
}

ResultTable histogram_table(const HistogramPair& pair) {
  ResultTable table;
  const bool deep = pair.before.bins() > kRows || pair.after.bins() > kRows;
  table.columns = {{"bin", deep ? "value (of 16 bits the upper 8)" : "value", true}};
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

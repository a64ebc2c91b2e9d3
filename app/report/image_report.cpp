#include "app/report/image_report.h"

#include <algorithm>
#include <array>
#include <map>

#include "app/process_options/options_digest.h"
#include "app/report/report_parts.h"
#include "app/report/report_tables.h"
#include "app/report/text_columns.h"
#include "images/text.h"
#include "pipeline/decode_row.h"

namespace imgpipe {
namespace {

// The device's busy time in passes: the sum over all passes, and the median of the reported ones.
struct PassTimes {
  double all_ms = 0;
  double median_ms = 0;
};

PassTimes pass_times(const Timeline& timeline) {
  std::map<int, Timeline> passes;
  for (const Span& span : timeline.spans()) {
    if (span.kind != SpanKind::host) passes[span.pass].add(span);
  }
  PassTimes times;
  std::vector<double> reported;
  for (const auto& [pass, spans] : passes) {
    const double busy_ms = static_cast<double>(spans.union_ns()) / kNsPerMs;
    times.all_ms += busy_ms;
    if (pass != kWarmUpPass) reported.push_back(busy_ms);
  }
  times.median_ms = median_of(std::move(reported));
  return times;
}

void set_rates(std::vector<ReportRow>& rows, double copy_bandwidth) {
  for (ReportRow& row : rows) {
    if (row.bytes == 0 || row.time_ms <= 0) continue;
    row.gb_per_s = static_cast<double>(row.bytes) / row.time_ms / 1e6;
    if (copy_bandwidth > 0 && row.kind == SpanKind::kernel)
      row.copy_share = *row.gb_per_s * 1e9 / copy_bandwidth;
  }
}

std::vector<ReportRow> make_rows(const Timeline& timeline, double copy_bandwidth) {
  std::vector<ReportRow> rows;
  for (const TimeRow& row : time_rows(timeline))
    rows.push_back({.name = row.name, .kind = row.kind, .time_ms = row.time_ms, .bytes = row.bytes});
  set_rates(rows, copy_bandwidth);
  return rows;
}

// Each total is the median of the passes' totals, also for the reference; it may differ from the sum of the
// rows' medians.
std::vector<ReportRow> make_totals(const ReportInput& input) {
  ReportRow kernels{.name = "kernels", .kind = SpanKind::kernel};
  ReportRow moved{.name = "kernels + transfers", .kind = SpanKind::transfer};
  const auto is_kernel = [](const Span& span) { return span.kind == SpanKind::kernel; };
  kernels.time_ms = busy_ms(*input.timeline, is_kernel);
  moved.time_ms = busy_ms(*input.timeline, [](const Span& span) {
    return span.kind == SpanKind::kernel || span.kind == SpanKind::transfer;
  });
  const PassTimes passes = pass_times(*input.timeline);
  ReportRow end_to_end{.name = "end to end",
                       .kind = SpanKind::host,
                       .time_ms = input.wall_ms - passes.all_ms + passes.median_ms};
  if (input.reference != nullptr) {
    const double reference_ms = busy_ms(*input.reference, is_kernel);
    kernels.reference_ms = reference_ms;
    moved.reference_ms = reference_ms;
    end_to_end.reference_ms = end_to_end.time_ms - passes.median_ms + reference_ms;
  }
  return {kernels, moved, end_to_end};
}

// Adds the time of the format's library to the rows of another decoder.
void compare_decoding(const ReportInput& input, ImageReport& report) {
  if (!input.decoded) return;
  // If the device decoded, the host only read the header and staged the scan.
  const bool by_device = std::ranges::any_of(report.rows, [](const ReportRow& row) {
    return is_decode_row(row.name) && row.kind == SpanKind::codec;
  });
  for (ReportRow& row : report.rows) {
    if (!is_decode_row(row.name) || (by_device && row.kind != SpanKind::codec)) continue;
    row.reference_ms = input.library_decode_ms;
    row.comparison = input.decoded->text();
  }
  report.identical = report.identical && input.decoded->identical();
}

// Breaks the text into two lines for the table.
std::string times_line(int repeat, bool compared) {
  std::string text = repeat_text(repeat, compared);
  const std::size_t second = text.find("totals");
  text.replace(second - 1, 1, "\n        ");
  return "times:  " + text + "\n";
}

}  // namespace

int reference_passes(int repeat) {
  constexpr int kMaxPasses = 3;  // the reference takes seconds, the device milliseconds
  return std::min(repeat, kMaxPasses);
}

std::optional<double> ReportRow::speed_up() const {
  if (!reference_ms || time_ms <= 0 || *reference_ms <= 0) return std::nullopt;
  return *reference_ms / time_ms;
}

int bits_of(const Shape& shape) {
  return static_cast<int>(8 * bytes_per_sample(shape.sample));
}

std::string shape_text(const Shape& shape) {
  constexpr std::array<const char*, 5> kNames{"", "grey", "grey+alpha", "RGB", "RGBA"};
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + " " +
         kNames[static_cast<std::size_t>(shape.channels)];
}

ImageReport make_image_report(const ReportInput& input) {
  ImageReport report;
  report.rows = make_rows(*input.timeline, input.copy_bandwidth);
  report.spans = input.timeline->spans();
  report.wall_ms = input.wall_ms;
  report.span_union_ms = static_cast<double>(input.timeline->union_ns()) / kNsPerMs;
  report.copy_bandwidth_gb_s = input.copy_bandwidth / 1e9;
  if (input.reference != nullptr) {
    report.compared = true;
    compare_decoding(input, report);
    for (std::size_t i = 0; i < input.plan->steps.size(); ++i) {
      const std::string& label = input.plan->steps[i].label;
      const auto row = std::ranges::find(report.rows, label, &ReportRow::name);
      if (row == report.rows.end()) continue;
      row->reference_ms = busy_ms(*input.reference, label);
      row->comparison = (*input.differences)[i].text();
      report.identical = report.identical && (*input.differences)[i].identical();
    }
  }
  report.totals = make_totals(input);
  return report;
}

namespace {

void add_row(std::vector<ReportRow>& rows, const ReportRow& row, const std::string& page) {
  auto sum = std::ranges::find(rows, row.name, &ReportRow::name);
  if (sum == rows.end()) {
    rows.push_back({.name = row.name, .kind = row.kind});
    sum = rows.end() - 1;
  }
  sum->time_ms += row.time_ms;
  sum->bytes += row.bytes;
  if (row.reference_ms) sum->reference_ms = sum->reference_ms.value_or(0) + *row.reference_ms;
  const bool is_first_difference = sum->comparison.empty() || sum->comparison == "identical";
  if (is_first_difference && !row.comparison.empty())
    sum->comparison = row.comparison == "identical" ? row.comparison : page + ": " + row.comparison;
}

}  // namespace

void add_page(ImageReport& all, const ImageReport& page, std::int64_t number) {
  const std::string name = "page " + std::to_string(number);
  for (const ReportRow& row : page.rows) add_row(all.rows, row, name);
  for (const ReportRow& row : page.totals) add_row(all.totals, row, name);
  all.compared = page.compared;
  all.identical = all.identical && page.identical;
  all.span_union_ms += page.span_union_ms;
}

void finish_pages(ImageReport& all, double wall_ms, double copy_bandwidth) {
  all.wall_ms = wall_ms;
  all.copy_bandwidth_gb_s = copy_bandwidth / 1e9;
  set_rates(all.rows, copy_bandwidth);
  if (all.totals.empty()) return;
  // Time outside pages: listing, the first pass of range=series, closing the file.
  ReportRow& end_to_end = all.totals.back();
  const double more_ms = wall_ms - end_to_end.time_ms;
  end_to_end.time_ms = wall_ms;
  if (end_to_end.reference_ms) *end_to_end.reference_ms += more_ms;
}

std::string contents_text(const RunFacts& facts, bool output) {
  const Shape& shape = output ? facts.output : facts.input.shape;
  const int bits = output ? bits_of(facts.output) : facts.input.bits_per_sample;
  const Format format = output ? facts.output_format : facts.input.format;
  const bool has_floats =
      output ? is_float(shape.sample) : facts.input.sample_format == SampleFormat::floating_point;
  const std::string type = bits == 8 ? "" : std::to_string(bits) + "-bit " + (has_floats ? "float " : "");
  std::string text =
      (output && facts.tensor ? tensor_text(*facts.tensor) + ", " : shape_text(shape) + " " + type) +
      std::string(format_info(format).name);
  if (!output && facts.input.scale > 1) text += " " + scale_text(facts.input);
  if (!facts.pages) return text;
  const PageFacts& pages = *facts.pages;
  const std::int64_t chosen = pages.last - pages.first + 1, count = output ? chosen : pages.in_file;
  if (!(output ? pages.same_output : pages.same_input)) text += " and others";
  text = std::to_string(count) + " " + pages.unit + (count == 1 ? ", " : "s, ") + text;
  if (output && chosen != pages.in_file)
    text += " (" + std::to_string(pages.first) + "-" + std::to_string(pages.last) + ")";
  return text;
}

std::string also_text(const RunFacts& facts, const AlsoFacts& also) {
  RunFacts result = facts;
  result.output = also.shape;
  result.tensor.reset();
  return printable(also.path) + ": " + contents_text(result, true);
}

std::string range_text(const ContrastRange& range) {
  std::string text = range.label + ": lo " + std::to_string(range.lo) + ", hi " + std::to_string(range.hi);
  if (range.of_one_plane) text += ", plane " + std::to_string(range.plane);
  return text + (has_no_range(range) ? " (nothing to stretch)" : "");
}

std::string milliseconds_text(double ms) {
  return number(ms, ms < 10 ? 4 : ms < 1000 ? 2 : 1);
}

std::string repeat_text(int repeat, bool compared) {
  std::string text = "medians of " + std::to_string(repeat) +
                     " passes after a warm-up; totals are medians of the passes' totals";
  if (compared)
    text += "; the reference likewise, with " + std::to_string(reference_passes(repeat)) +
            (reference_passes(repeat) == 1 ? " pass" : " passes");
  return text;
}

std::string stack_text(const RunFacts& facts) {
  const StackFacts& stack = *facts.stack;
  const StackOptions& options = *facts.options->stack;
  return std::string(options.montage ? "montage: " : "stack: ") + stack_text(options) + " of " +
         std::to_string(stack.images) + (stack.images == 1 ? " image" : " images") +
         (stack.passes == 1 ? ", in one pass" : ", in " + std::to_string(stack.passes) + " passes");
}

std::string image_report_table(const ImageReport& report, const RunFacts& facts, bool color) {
  const ProcessOptions& options = *facts.options;
  const bool alone = options.pages && !facts.pages;
  std::string out = printable(options.input.path) +
                    (alone ? ", page " + std::to_string(options.pages->first) : "") + ": " +
                    contents_text(facts, false) + " -> " + printable(options.output.path) + ": " +
                    contents_text(facts, true) + "\n";
  for (const AlsoFacts& also : facts.also) out += "also:   " + also_text(facts, also) + "\n";
  if (facts.depth_loss != DepthLoss::none)
    out +=
        "depth:  " + depth_warning(facts.depth_loss, facts.input.bits_per_sample, facts.output_format) + "\n";
  out += "device: " + report.implementation + " on " + report.processor + "\n";
  if (!report.device_why.empty()) out += "        " + report.device_why + "\n";
  if (report.copy_bandwidth_gb_s > 0) {
    out += "        copy bandwidth " + number(report.copy_bandwidth_gb_s, 1) + " GB/s, read and written\n";
  }
  out += "options: digest " + short_digest(options_digest(options, facts.output_format)) + "\n";
  if (options.reports.repeat > 0) out += times_line(options.reports.repeat, report.compared);
  for (const ContrastRange& range : report.ranges) out += range_text(range) + "\n";
  for (const OutsideCounts& counts : report.outside) out += outside_text(counts) + "\n";
  for (const std::string& note : report.notes) out += note + "\n";
  ResultTable table = row_table(report);
  constexpr std::array<std::size_t, 8> kWidths{21, 12, 10, 9, 8, 13, 11, 0};
  for (std::size_t i = 0; i < table.columns.size(); ++i) table.columns[i].width = kWidths[i];
  table.columns.front().title = kNoTitle;
  for (auto& row : table.rows) {
    std::string& comparison = row.back().text;
    if (!report.compared || !color || comparison.empty()) continue;
    comparison.insert(0, comparison == "identical" ? "\x1b[32m" : "\x1b[1;31m").append("\x1b[0m");
  }
  table.rows.emplace(table.rows.end() - static_cast<std::ptrdiff_t>(report.totals.size()),
                     table.columns.size());
  out += "\n" + table_text(table);
  return out;
}

}  // namespace imgpipe

// What a run took, row by row: made from the timeline and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/process_options/process_options.h"
#include "images/codecs/codec.h"
#include "pipeline/compare.h"
#include "pipeline/contrast_ranges.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/time_rows.h"

namespace imgpipe {

class Fields;

inline constexpr double kNsPerMs = 1e6;

struct ReportRow {
  std::string name;
  SpanKind kind = SpanKind::host;
  double time_ms = 0;  // busy time; with --repeat the median over its passes
  std::int64_t bytes = 0;
  std::optional<double> gb_per_s{};
  std::optional<double> copy_share{};  // of the device's own copy bandwidth
  std::optional<double> reference_ms{};
  std::string comparison{};  // "identical" ..., empty without --cpu

  [[nodiscard]] std::optional<double> speed_up() const;
};

struct ImageReport {
  std::vector<ReportRow> rows;    // in the order in which they first ran
  std::vector<ReportRow> totals;  // kernels, kernels + transfers, end to end
  std::vector<Span> spans;
  std::vector<ContrastRange> ranges;
  std::vector<std::string> notes;  // further lines for people
  double wall_ms = 0;              // measured around everything, all passes of --repeat included
  double span_union_ms = 0;        // in which at least one span ran
  double copy_bandwidth_gb_s = 0;  // 0: not measured
  std::string implementation;
  std::string device_why;
  std::string processor;
  bool compared = false;
  bool identical = true;
};

// Of several pages, whose rows are added up.
struct PageFacts {
  std::int64_t in_file = 1, first = 1, last = 1;
  bool stack = false;                          // written as one file
  bool same_input = true, same_output = true;  // all are of one shape
};

// What ran, for the report's header and its files.
struct RunFacts {
  const ProcessOptions* options = nullptr;
  std::string command{};  // as a shell takes it
  ImageHeader input{};
  std::int64_t input_bytes = 0;
  Format output_format = Format::png;
  Shape output{};
  std::int64_t output_bytes = 0;
  DepthLoss depth_loss = DepthLoss::none;
  std::vector<std::string> warnings{};
  std::optional<PageFacts> pages{};  // `input` and `output` are then the first one's
};

struct ReportInput {
  const Timeline* timeline = nullptr;
  const Plan* plan = nullptr;
  double wall_ms = 0;
  double copy_bandwidth = 0;  // bytes a second; 0: not measured
  // With --cpu: the reference's timeline and the comparison by step.
  const Timeline* reference = nullptr;
  const std::vector<Difference>* differences = nullptr;
  // Of the decoded image against what the format's library makes of the file, where another decoder made it.
  std::optional<Difference> decoded{};
  double library_decode_ms = 0;
};

// Passes of the reference for --repeat N.
[[nodiscard]] int reference_passes(int repeat);

// End to end is the wall time of one run: with --repeat, the wall time less all passes plus their median.
// The reference's end to end is the same run with the reference's kernels in place of kernels and transfers.
[[nodiscard]] ImageReport make_image_report(const ReportInput& input);

// The same steps of several pages as one: times and bytes are added up. `all` is empty at first.
void add_page(ImageReport& all, const ImageReport& page, std::int64_t number);
// Behind the last page: wall time and shares are those of the whole.
void finish_pages(ImageReport& all, double wall_ms, double copy_bandwidth);

// The table for people. `color` marks a comparison that failed.
[[nodiscard]] std::string image_report_table(const ImageReport& report, const RunFacts& facts, bool color);
[[nodiscard]] std::string image_report_json(const ImageReport& report, const RunFacts& facts);
[[nodiscard]] std::string image_report_csv(const ImageReport& report);

[[nodiscard]] std::string image_schema();
// The fields of that report, and of one over several pages, whose `schema` is another.
void add_image_report(Fields& fields, std::string_view schema, const ImageReport& report,
                      const RunFacts& facts);
// "identical" or "different"; none without --cpu.
[[nodiscard]] std::optional<std::string> comparison_of(bool compared, bool identical);

// Words of the table and the page.
// "12 pages (4-15), 512x512 grey 16-bit tiff", or without pages "512x512 grey 16-bit tiff".
[[nodiscard]] std::string contents_text(const RunFacts& facts, bool output);
// "contrast: lo 19, hi 231".
[[nodiscard]] std::string range_text(const ContrastRange& range);
// Times range from microseconds to minutes: three significant figures at least.
[[nodiscard]] std::string milliseconds_text(double ms);
// What --repeat makes of the times.
[[nodiscard]] std::string repeat_text(int repeat, bool compared);

// Of a sample as the stages have it: 8 or 16.
[[nodiscard]] int bits_of(const Shape& shape);
// "2560x1600 RGB".
[[nodiscard]] std::string shape_text(const Shape& shape);

}  // namespace imgpipe

// The report of a run, derived from its timeline.
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
  double time_ms = 0;  // busy time; with --repeat the median of the passes
  std::int64_t bytes = 0;
  std::optional<double> gb_per_s{};
  std::optional<double> copy_share{};  // share of the device's copy bandwidth
  std::optional<double> reference_ms{};
  std::string comparison{};  // "identical" ..., empty without --cpu

  [[nodiscard]] std::optional<double> speed_up() const;
};

struct ImageReport {
  std::vector<ReportRow> rows;    // in order of first appearance
  std::vector<ReportRow> totals;  // kernels, kernels + transfers, end to end
  std::vector<Span> spans;
  std::vector<ContrastRange> ranges;
  std::vector<OutsideCounts> outside;
  std::vector<std::string> notes;  // additional lines for people
  double wall_ms = 0;              // of everything, including all passes of --repeat
  double span_union_ms = 0;        // time during which at least one span ran
  double copy_bandwidth_gb_s = 0;  // 0: not measured
  std::string implementation;
  std::string device_why;
  std::string processor;
  int threads = 0;
  bool compared = false;
  bool identical = true;
};

// Facts about several pages, whose rows are added up.
struct PageFacts {
  std::int64_t in_file = 1, first = 1, last = 1;
  bool stack = false;                          // written as one file
  bool same_input = true, same_output = true;  // all pages have the same shape
  const char* unit = "page";                   // or "band"
};

// A written result of --also.
struct AlsoFacts {
  std::string name, path;
  Shape shape{1, 1, 1};
  std::int64_t bytes = 0;
  FileHashes hashes{};
};

// Of --stack: the projected images, and how often the inputs were read.
struct StackFacts {
  std::int64_t images = 0, passes = 0;
};

struct RunFacts {
  const ProcessOptions* options = nullptr;
  std::string command{};  // quoted for a shell
  ImageHeader input{};
  std::int64_t input_bytes = 0;
  Format output_format = Format::png;
  Shape output{};
  std::optional<TensorType> tensor{};  // if the output is one; `output` is then its source image
  std::int64_t output_bytes = 0;
  FileHashes input_hashes{}, output_hashes{};  // with --hash
  std::vector<AlsoFacts> also{};               // of several pages: of all pages, with the first page's shape
  DepthLoss depth_loss = DepthLoss::none;
  std::vector<std::string> warnings{};
  std::optional<StackFacts> stack{};
  std::optional<PageFacts> pages{};  // if set, `input` and `output` are those of the first page
};

struct ReportInput {
  const Timeline* timeline = nullptr;
  const Plan* plan = nullptr;
  double wall_ms = 0;
  double copy_bandwidth = 0;  // bytes per second; 0: not measured
  // With --cpu: the reference's timeline and the comparison by step.
  const Timeline* reference = nullptr;
  const std::vector<Difference>* differences = nullptr;
  // Difference from the library's decoded image, if another decoder was used.
  std::optional<Difference> decoded{};
  double library_decode_ms = 0;
};

// Returns the number of passes of the reference for --repeat N.
[[nodiscard]] int reference_passes(int repeat);

// The end-to-end time is the wall time of one run: with --repeat, the wall time minus all passes plus their
// median. For the reference, the reference's kernels replace the kernels and transfers in it.
[[nodiscard]] ImageReport make_image_report(const ReportInput& input);

// Adds the times and bytes of a page's steps to `all`, which starts empty.
void add_page(ImageReport& all, const ImageReport& page, std::int64_t number);
// Call after the last page: sets the wall time and the rates of the whole run.
void finish_pages(ImageReport& all, double wall_ms, double copy_bandwidth);

// "stack: median of 640 images, in 12 passes".
[[nodiscard]] std::string stack_text(const RunFacts& facts);
// Returns the table for people. `color` highlights a failed comparison.
[[nodiscard]] std::string image_report_table(const ImageReport& report, const RunFacts& facts, bool color);
[[nodiscard]] std::string image_report_json(const ImageReport& report, const RunFacts& facts);
[[nodiscard]] std::string image_report_csv(const ImageReport& report);

[[nodiscard]] std::string image_schema();
// Adds the fields of an image report, or of a report over pages with its own `schema`.
void add_image_report(Fields& fields, std::string_view schema, const ImageReport& report,
                      const RunFacts& facts);
// Returns "identical" or "different"; nullopt without --cpu.
[[nodiscard]] std::optional<std::string> comparison_of(bool compared, bool identical);

// "12 pages (4-15), 512x512 grey 16-bit tiff"; for a single image "512x512 grey 16-bit tiff".
[[nodiscard]] std::string contents_text(const RunFacts& facts, bool output);
// "out.thumb.jpg: 200x133 RGB jpeg".
[[nodiscard]] std::string also_text(const RunFacts& facts, const AlsoFacts& also);
// "contrast: lo 19, hi 231".
[[nodiscard]] std::string range_text(const ContrastRange& range);
// Shows at least three significant digits from 0.01 ms on.
[[nodiscard]] std::string milliseconds_text(double ms);
[[nodiscard]] std::string repeat_text(int repeat, bool compared);

// Returns the bits of a sample in the pipeline: 8 or 16.
[[nodiscard]] int bits_of(const Shape& shape);
// "2560x1600 RGB".
[[nodiscard]] std::string shape_text(const Shape& shape);

}  // namespace imgpipe

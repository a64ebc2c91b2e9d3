// The report for programs: JSON and CSV.
#include "app/options/options_digest.h"
#include "app/report/csv.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "app/run_place.h"
#include "images/text.h"

namespace imgpipe {
namespace {

void row_fields(Fields& fields, const ReportRow& row) {
  fields.add("name", row.name);
  fields.add("kind", kind_name(row.kind), kSpanKinds);
  fields.add("time_ms", row.time_ms);
  fields.add("bytes", row.bytes);
  fields.add("gb_per_s", row.gb_per_s, kAnyNumber);
  fields.add("copy_bandwidth_share", row.copy_share, kAnyNumber);
  fields.add("reference_ms", row.reference_ms, kAnyNumber);
  fields.add("speed_up", row.speed_up(), kAnyNumber);
  fields.add("comparison", given(row.comparison));
}
constexpr Object<ReportRow> kRow{"row", row_fields};

void span_fields(Fields& fields, const Span& span) {
  fields.add("name", span.name);
  fields.add("track", span.track);
  fields.add("kind", kind_name(span.kind), kSpanKinds);
  fields.add("pass", span.pass, kAnyNumber);
  fields.add("start_ms", static_cast<double>(span.start_ns) / kNsPerMs, kAnyNumber);
  fields.add("end_ms", static_cast<double>(span.end_ns) / kNsPerMs, kAnyNumber);
  fields.add("bytes", span.bytes);
}
constexpr Object<Span> kSpan{"span", span_fields};

void device_fields(Fields& fields, const ImageReport& report) {
  const double bandwidth = report.copy_bandwidth_gb_s;
  fields.add("implementation", report.implementation);
  fields.add("name", report.processor);
  fields.add("why", report.device_why);
  fields.add("copy_bandwidth_gb_per_s", bandwidth > 0 ? std::optional(bandwidth) : std::nullopt, kAnyNumber);
}
constexpr Object<ImageReport> kDevice{"device", device_fields};

void add_file(Fields& fields, const std::string& path, Format format, const Shape& shape,
              std::int64_t bytes) {
  fields.add("path", printable(path));
  fields.add("format", format_info(format).name);
  fields.add("width_pixels", shape.width, kFromOne);
  fields.add("height_pixels", shape.height, kFromOne);
  fields.add("channels", shape.channels, kChannels);
  fields.add("file_bytes", bytes);
}

// `facts` of a schema have no options.
std::string path_in(const RunFacts& facts, std::string ProcessOptions::*path) {
  return facts.options == nullptr ? "" : facts.options->*path;
}

void input_fields(Fields& fields, const RunFacts& facts) {
  const ImageHeader& header = facts.input;
  add_file(fields, path_in(facts, &ProcessOptions::input), header.format, header.shape, facts.input_bytes);
  fields.add("bits_per_sample", header.bits_per_sample, kFromOne);
  fields.add("sample_bits", bits_of(header.shape), kSampleBits);
  fields.add("profile", given(header.profile));
  fields.add("exif_orientation", static_cast<int>(header.orientation), kOrientations);
}
constexpr Object<RunFacts> kInput{"input", input_fields};

void output_fields(Fields& fields, const RunFacts& facts) {
  add_file(fields, path_in(facts, &ProcessOptions::output), facts.output_format, facts.output,
           facts.output_bytes);
  fields.add("bits_per_sample", bits_of(facts.output), kSampleBits);
}
constexpr Object<RunFacts> kOutput{"output", output_fields};

constexpr Object<ProcessOptions> kOptions{"options", option_fields};

struct ImageResult {
  const ImageReport& report;
  const RunFacts& facts;
};

void image_fields(Fields& fields, const ImageResult& result) {
  add_image_fields(fields, kImageSchema, result.report, result.facts);
}
constexpr Object<ImageResult> kImage{kImageSchema, image_fields};

}  // namespace

void add_image_fields(Fields& fields, std::string_view schema, const ImageReport& report,
                      const RunFacts& facts) {
  const ProcessOptions& options = *facts.options;
  add_build(fields);
  add_run_head(fields, schema, RunHead(options.threads));
  fields.add("command", command_text()).about(kCommandAbout);
  fields.add("device", report, kDevice);
  fields.add("input", facts, kInput);
  fields.add("output", facts, kOutput);
  const bool reduced = facts.depth_loss != DepthLoss::none;
  fields.add("reduced_to_8_bits",
             reduced ? std::optional(
                           depth_warning(facts.depth_loss, facts.input.bits_per_sample, facts.output_format))
                     : std::nullopt);
  fields.add("options", options, kOptions);
  fields.add("options_digest", options_digest(options, facts.output_format), kDigest).about(kDigestAbout);
  fields.add("warnings", facts.warnings)
      .about("as the batch's line of an image has them: damage, dropped metadata, a contrast without range");
  fields.list("contrast", report.ranges, kContrastRange);
  fields.list("rows", report.rows, kRow);
  fields.list("totals", report.totals, kRow);
  fields.list("spans", report.spans, kSpan);
  fields.add("comparison", comparison_of(report.compared, report.identical), kComparisons);
  fields.add("wall_ms", report.wall_ms);
  fields.add("span_union_ms", report.span_union_ms);
}

std::optional<std::string> comparison_of(bool compared, bool identical) {
  return compared ? std::optional<std::string>(identical ? "identical" : "different") : std::nullopt;
}

std::string image_report_json(const ImageReport& report, const RunFacts& facts) {
  return Fields(kImage, {report, facts}).text();
}

std::string image_schema() {
  const ProcessOptions options;
  RunFacts facts;
  facts.options = &options;
  return schema_text(kImage, "What a run over one image took: --report FILE.json", {ImageReport(), facts});
}

std::string image_report_csv(const ImageReport& report) {
  std::string out = csv_head(Fields(kRow, {}).json());
  for (const auto* rows : {&report.rows, &report.totals}) {
    for (const ReportRow& row : *rows) {
      Json json = Fields(kRow, row).json();
      if (rows == &report.totals) json["kind"] = "total";
      if (row.bytes == 0) json["bytes"] = nullptr;
      out += csv_row(json);
    }
  }
  return out;
}

}  // namespace imgpipe

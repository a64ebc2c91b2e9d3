#include "app/process_options/options_digest.h"
#include "app/report/csv.h"
#include "app/report/decoding_text.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "app/report/report_tables.h"
#include "images/text.h"

namespace imgpipe {
namespace {

void add_file(Fields& fields, const std::string& path, Format format, const Shape& shape, std::int64_t bytes,
              const FileHashes& hashes) {
  fields.add("path", printable(path));
  fields.add("format", format_info(format).name);
  fields.add("width_pixels", shape.width, kFromOne);
  fields.add("height_pixels", shape.height, kFromOne);
  fields.add("channels", shape.channels, kChannels);
  fields.add("file_bytes", bytes);
  add_hashes(fields, hashes);
}

std::optional<std::string> decoding_of(const RunFacts& facts) {
  if (facts.input_hashes.pixels.empty()) return std::nullopt;
  return decoding_text({facts.options->decode, facts.options->pages}, facts.input);
}

void add_stack(Fields& fields, const RunFacts& facts) {
  const StackOptions options = facts.options->stack.value_or(StackOptions());
  const StackFacts run = facts.stack.value_or(StackFacts());
  const std::optional<std::string> text = stack_text(options), none;
  fields.add("projection", options.montage ? none : text, one_of("max|min|mean|sum|median"));
  fields.add("montage", options.montage ? text : none).about("columns and rows, as given");
  fields.add("files", static_cast<std::int64_t>(options.inputs.size()), kFromOne);
  fields.add("images", run.images, kFromOne);
  fields.add("passes", run.passes, kFromOne).about("how often every image was read");
  fields.add("pages", pages_text(options.pages));
  fields.add("stages", printable(options.list)).about("of every image; those of the result are in options");
}

}  // namespace

std::optional<std::string> comparison_of(bool compared, bool identical) {
  return compared ? std::optional<std::string>(identical ? "identical" : "different") : std::nullopt;
}

void add_image_report(Fields& fields, std::string_view schema, const ImageReport& report,
                      const RunFacts& facts) {
  const ProcessOptions& options = *facts.options;
  const ImageHeader& header = facts.input;
  add_build(fields);
  add_run_head(fields, schema, RunHead(report.threads));
  fields.add("command", facts.command).about(kCommandAbout);
  fields.object("device", [&](Fields& device) {
    const double bandwidth = report.copy_bandwidth_gb_s;
    device.add("implementation", report.implementation);
    device.add("name", report.processor);
    device.add("why", report.device_why);
    device.add("copy_bandwidth_gb_per_s", bandwidth > 0 ? std::optional(bandwidth) : std::nullopt,
               kAnyNumber);
  });
  fields.object("input", [&](Fields& input) {
    add_file(input, options.input.path, header.format, header.shape, facts.input_bytes, facts.input_hashes);
    input.add("decoding", decoding_of(facts)).about("with --hash: how its pixels were decoded");
    add_scale(input, header);
    input.add("bits_per_sample", header.bits_per_sample, kFromOne);
    input.add("sample_bits", bits_of(header.shape), kSampleBits);
    input.add("profile", given(header.profile));
    input.add("exif_orientation", static_cast<int>(header.orientation), kOrientations);
  });
  if (schema == kImageSchema)
    fields.object_if(facts.stack.has_value(), "stack", [&](Fields& stack) { add_stack(stack, facts); });
  fields.object("output", [&](Fields& output) {
    add_file(output, options.output.path, facts.output_format, facts.output, facts.output_bytes,
             facts.output_hashes);
    output.add("bits_per_sample", bits_of(facts.output), kOutputBits);
    output.object_if(facts.tensor.has_value(), "tensor",
                     [&](Fields& tensor) { add_tensor(tensor, facts.tensor.value_or(TensorType())); });
  });
  fields.list("also", facts.also, [&](Fields& also, const AlsoFacts& result) {
    also.add("name", result.name);
    add_file(also, result.path, facts.output_format, result.shape, result.bytes, result.hashes);
    also.add("bits_per_sample", bits_of(result.shape), kOutputBits);
  });
  std::optional<std::string> reduced;
  if (facts.depth_loss != DepthLoss::none)
    reduced = depth_warning(facts.depth_loss, header.bits_per_sample, facts.output_format);
  fields.add("reduced_to_8_bits", reduced);
  fields.object("options", [&](Fields& all) { add_options(all, options); });
  fields.add("options_digest", options_digest(options, facts.output_format), kDigest).about(kDigestAbout);
  fields.add("warnings", facts.warnings)
      .about("as the batch's line of an image has them: damage, dropped metadata, a contrast without range");
  fields.list("contrast", report.ranges, add_range);
  fields.list("outside", report.outside, add_outside)
      .about("samples that hist of floats found outside its limits");
  fields.list("rows", report.rows, add_time_row);
  fields.list("totals", report.totals, add_time_row);
  fields.list("spans", report.spans, add_span);
  fields.add("comparison", comparison_of(report.compared, report.identical), kComparisons);
  fields.add("wall_ms", report.wall_ms);
  fields.add("span_union_ms", report.span_union_ms);
}

std::string image_report_json(const ImageReport& report, const RunFacts& facts) {
  return fields_of([&](Fields& fields) { add_image_report(fields, kImageSchema, report, facts); }).text();
}

std::string image_schema() {
  return schema_text(kImageSchema, "What a run over one image took: --report FILE.json", [](Fields& fields) {
    const ProcessOptions options;
    add_image_report(fields, kImageSchema, {}, {.options = &options});
  });
}

std::string image_report_csv(const ImageReport& report) {
  std::string out = csv_head(fields_of([](Fields& fields) { add_time_row(fields, {}); }).json());
  for (const auto* rows : {&report.rows, &report.totals}) {
    for (const ReportRow& row : *rows) {
      Json json = fields_of([&](Fields& fields) { add_time_row(fields, row); }).json();
      if (rows == &report.totals) json["kind"] = "total";
      if (row.bytes == 0) json["bytes"] = nullptr;
      out += csv_row(json);
    }
  }
  return out;
}

}  // namespace imgpipe

#include "app/report/report_parts.h"

#include <algorithm>

#include "app/options/option_values.h"
#include "app/process_options/options_digest.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"

namespace imgpipe {
namespace {

// A request without a stage occurs when a schema is built.
Named<std::string> parameter_texts(const StageRequest& request, bool of_series) {
  Named<std::string> texts;
  for (std::size_t i = 0; request.stage != nullptr && i < request.stage->parameters.size(); ++i) {
    texts.emplace_back(request.stage->parameters[i].name,
                       printable(value_text(*request.stage, request.parameters, i)));
  }
  if (of_series) texts.emplace_back("range", "series");
  return texts;
}

std::vector<std::int64_t> dimensions_of(const TensorType& type, std::optional<std::int64_t> rows) {
  std::vector<std::int64_t> dimensions;
  if (rows) dimensions.push_back(*rows);
  for (const std::int64_t dimension : type.dimensions()) dimensions.push_back(dimension);
  return dimensions;
}

}  // namespace

std::string_view kind_of_error(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::memory:
      return "memory";
    case ErrorKind::device:
      return "device";
    case ErrorKind::output:
      break;
  }
  return "output";
}

void add_failure(Fields& fields, const ReportFailure& failure) {
  fields.add("input", failure.input);
  fields.add("error", kind_of_error(failure.kind), kErrorKinds);
  fields.add("reason", failure.reason);
}

void add_range(Fields& fields, const ContrastRange& range) {
  fields.add("step", range.label);
  fields.add("plane", range.plane);
  fields.add("lo", range.lo);
  fields.add("hi", range.hi);
}

void add_outside(Fields& fields, const OutsideCounts& counts) {
  fields.add("step", counts.label);
  fields.add("plane", counts.plane);
  fields.add("lo", counts.lo, kAnyNumber);
  fields.add("hi", counts.hi, kAnyNumber);
  fields.add("below", counts.below);
  fields.add("above", counts.above);
  fields.add("nan", counts.nan);
}

void add_tensor(Fields& fields, const TensorType& type, std::optional<std::int64_t> rows) {
  fields.add("shape", dimensions_of(type, rows), kFromOne);
  fields.add("dtype", type.sample_name(), one_of("float32|float16|bfloat16"));
  fields.add("layout", type.layout_name(), one_of("nchw|nhwc"));
  fields.add("formula", type.formula_name(),
             one_of("transformers|totensor|torchvision-v2|transformers-fused"));
}

std::string tensor_text(const TensorType& type, std::optional<std::int64_t> rows) {
  return joined_numbers(dimensions_of(type, rows), "x") + " " + std::string(type.sample_name()) +
         " tensor, " + std::string(type.layout_name()) + ", formula " + std::string(type.formula_name());
}

void add_scale(Fields& fields, const std::optional<ImageHeader>& header) {
  const auto value_of = [&](std::int64_t Shape::*side) {
    return header ? std::optional(unscaled_shape(*header).*side) : std::nullopt;
  };
  fields.add("decode_scale", header ? std::optional(header->scale) : std::nullopt, {.least = 1, .most = 8})
      .about("a JPEG was decoded at 1/N of its size (--decode-scale)");
  fields.add("stored_width_pixels", value_of(&Shape::width), kFromOne);
  fields.add("stored_height_pixels", value_of(&Shape::height), kFromOne).about("the size before scaling");
}

void add_hashes(Fields& fields, const FileHashes& hashes, const std::string& prefix) {
  fields.add(prefix + "sha256", given(hashes.bytes), kDigest).about("with --hash: of the bytes");
  fields.add(prefix + "pixels_sha256", given(hashes.pixels), kDigest).about("with --hash: docs/verify.md");
}

void add_options(Fields& fields, const ProcessOptions& options) {
  Named<std::string> presets;
  for (const OptionValue& option : options.stages.parameter_options)
    presets.emplace_back(option.option, printable(option.text));
  fields.add("stages", printable(options.stages.list));
  fields.list("also", options.stages.also, [](Fields& also, const AlsoStages& result) {
    also.add("name", result.name);
    also.add("stages", printable(result.list));
  });
  fields.add("pages", options.pages ? std::optional(pages_text(*options.pages)) : std::nullopt);
  fields.others(presets, "options that preset a stage's parameter");
  std::size_t number = 0;
  fields.list("steps", options.stages.steps, [&](Fields& step, const StageRequest& request) {
    const bool of_series =
        std::ranges::find(options.stages.series_steps, number++) != options.stages.series_steps.end();
    step.add("stage", request.stage == nullptr ? "" : request.stage->name);
    step.add("parameters", parameter_texts(request, of_series));
  });
  fields.add("device", options.execution.device);
  fields.add("threads", options.execution.threads).about("0: one per available processor");
  fields.add("compare", options.reports.compare);
  fields.add("fuse", options.fuse);
  fields.add("repeat", options.reports.repeat);
  fields.add("bands", given(bands_text(options.decode)));
  fields.add("integers", given(integers_text(options.decode)), one_of("value|unit|range"));
  fields.add("decode_scale", decode_scale_text(options.decode), one_of("auto:scale1|1|2|4|8"));
  fields.add("accept", choice_name(options.decode.accept, kAcceptances));
  fields.add("lenient", options.decode.lenient());
  fields.add("orient", options.decode.orient);
  fields.add("codec", choice_name(options.decode.codec, kCodecs));
  fields.add("max_pixels", options.decode.max_pixels, kFromOne);
  fields.add("quality", options.output.encode.quality, kFromOne);
  fields.add("png_level", options.output.encode.png_level);
  fields.add("webp", choice_name(options.output.encode.webp, kWebpCodings));
  fields.add("webp_level", options.output.encode.webp_level);
  fields.add("tiff_compression", choice_name(options.output.encode.tiff_packing, kTiffPackings));
  fields.add("tiff_tile", options.output.encode.tiff_tile);
  fields.add("metadata", choice_name(options.output.keep_metadata, kMetadata), one_of("keep|strip"));
  fields
      .add("format",
           options.output.format ? std::optional(format_info(*options.output.format).name) : std::nullopt)
      .about("by --format, --name or --tensor; null: each output's own");
}

}  // namespace imgpipe

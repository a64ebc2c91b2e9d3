#include "app/report/report_parts.h"

#include "app/options/option_values.h"
#include "app/options/options_digest.h"
#include "images/text.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

struct StepTexts {
  std::string stage;
  Named<std::string> parameters;
};

void step_fields(Fields& fields, const StepTexts& step) {
  fields.add("stage", step.stage);
  fields.add("parameters", step.parameters);
}
constexpr Object<StepTexts> kStep{"step", step_fields};

std::vector<StepTexts> step_texts(const ProcessOptions& options) {
  std::vector<StepTexts> steps;
  for (const StageRequest& request : options.stages) {
    StepTexts& step = steps.emplace_back(StepTexts{std::string(request.stage->name), {}});
    for (std::size_t i = 0; i < request.stage->parameters.size(); ++i) {
      const Parameter& row = request.stage->parameters[i];
      step.parameters.emplace_back(row.name, value_text(row, request.parameters[i]));
    }
  }
  for (const std::size_t step : options.series_steps) steps[step].parameters.emplace_back("range", "series");
  return steps;
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

void failure_fields(Fields& fields, const ReportFailure& failure) {
  fields.add("input", failure.input);
  fields.add("error", kind_of_error(failure.kind), kErrorKinds);
  fields.add("reason", failure.reason);
}

void range_fields(Fields& fields, const ContrastRange& range) {
  fields.add("step", range.label);
  fields.add("plane", range.plane);
  fields.add("lo", range.lo);
  fields.add("hi", range.hi);
}

void option_fields(Fields& fields, const ProcessOptions& options) {
  Named<std::string> presets;
  for (const OptionValue& option : options.stage_options)
    presets.emplace_back(option.option, printable(option.text));
  fields.add("stages", options.stage_list);
  fields.add("pages", options.pages ? std::optional(pages_text(*options.pages)) : std::nullopt);
  fields.others(presets, "options that preset a stage's parameter");
  fields.list("steps", step_texts(options), kStep);
  fields.add("device", options.device);
  fields.add("threads", options.threads).about("0: as many as there were");
  fields.add("compare", options.compare);
  fields.add("fuse", options.fuse);
  fields.add("repeat", options.repeat);
  fields.add("bands", given(bands_text(options.decode)));
  fields.add("lenient", options.decode.lenient);
  fields.add("orient", options.decode.orient);
  fields.add("codec", codec_name(options.decode.codec));
  fields.add("max_pixels", options.decode.max_pixels, kFromOne);
  fields.add("quality", options.encode.quality, kFromOne);
  fields.add("png_level", options.encode.png_level);
  fields.add("webp", choice_name(options.encode.webp, kWebpCodings));
  fields.add("webp_level", options.encode.webp_level);
  fields.add("tiff_compression", choice_name(options.encode.tiff_packing, kTiffPackings));
  fields.add("tiff_tile", options.encode.tiff_tile);
  fields.add("metadata", choice_name(options.keep_metadata, kMetadata), one_of("keep|strip"));
  fields.add("format", options.format ? std::optional(format_info(*options.format).name) : std::nullopt)
      .about("by --format or --name; null: each output's own");
}

}  // namespace imgpipe

#include "app/synth_command.h"

#include <limits>
#include <memory>
#include <utility>

#include "app/exit_code.h"
#include "app/log.h"
#include "app/log_subject.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/options/sizes.h"
#include "app/program.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/output_file.h"
#include "images/memory/available_memory.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr Choices<Sample, 2> kDepths{{{"8", Sample::u8}, {"16", Sample::u16}}};

// Returns the shape to write. Throws Error(usage) if the format cannot hold it: alpha is never dropped.
Shape synth_shape(const SynthOptions& options, Format format) {
  const FormatInfo& info = format_info(format);
  const std::string name(info.name);
  if (!info.writable)
    throw Error(ErrorKind::usage, name + " stores tensors, which synth does not make; write png");
  if (info.written_bits == 0)
    throw Error(ErrorKind::usage, name + " stores floats, which synth does not make; write png");
  Shape shape = options.shape;
  shape.channels = options.channels.value_or(info.holds_color ? 3 : 1);
  if (shape.color_channels() == 3 && !info.holds_color)
    throw Error(ErrorKind::usage, "--channels: " + name + " stores only grey; use --channels 1 or write ppm");
  if (8 * bytes_per_sample(shape.sample) > info.written_bits)
    throw Error(ErrorKind::usage,
                "--depth: " + name + " stores only 8 bits per sample; use --depth 8 or write png");
  if (shape.has_alpha() && !info.holds_alpha)
    throw Error(ErrorKind::usage, "--channels: " + name + " cannot store alpha; use --channels " +
                                      std::to_string(shape.color_channels()) + " or write png");
  return shape;
}

int write_synth(const SynthOptions& options) {
  const Format format = output_format(options.output, options.format);
  check_stream(options.output);
  check_replaceable(options.output, image_refusal_reason(options.output, options.replace, Mark::synthetic));
  const Shape shape = synth_shape(options, format);
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 34;
  if (shape.pixels() > kMaxPixels)
    throw Error(ErrorKind::usage, "--size: expected at most 2^34 pixels, got " + std::to_string(shape.width) +
                                      "x" + std::to_string(shape.height));
  const std::unique_ptr<Writer> writer = make_writer(format, shape, options.encode);
  check_available(shape.bytes() + writer->working_bytes());  // both exist at once
  const Image image = synthesize(options.pattern, shape, options.seed);
  writer->write_rows(image.untyped_view());
  const EncodedFile file = writer->finish();
  naming(output_name(options.output), [&] { write_file(options.output, file.parts); });
  log_detail("wrote " + std::to_string(file.size_bytes()) + " bytes",
             {.input = {}, .output = output_name(options.output), .reason = {}});
  return kExitDone;
}

int run_synth(const SynthOptions& options) {
  return run_guarded([&] { return write_synth(options); },
                     [&](const Error& error) { return subject_of(error, "", output_name(options.output)); });
}

std::vector<OptionRow> synth_rows() {
  std::vector<OptionRow> rows{
      {"Pattern", "pattern", "P", nullptr, pattern_help(), pattern_values()},
      {"Pattern", "size", "WxH", nullptr, "Width and height in pixels"},
      {"Pattern", "channels", "N", nullptr,
       "1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA); default: 3, and 1 for pgm. "
       "Alpha rises from top to bottom"},
      {"Pattern", "depth", "8|16", "8",
       "Bits per sample; 16 for " + joined(writable_formats(16)) + ". N, T, V are then values of 16 bits",
       choice_names(kDepths)},
      {"Pattern", "seed", "N", "1", "The same bytes for the same seed, everywhere"},
      {"Output", "o,output", "PATH", nullptr, "OUTPUT as an option"}};
  add_rows(rows, encoding_rows());
  add_rows(rows, replace_rows());
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace

SynthOptions read_synth(const Parser& parser) {
  SynthOptions options;
  options.output = parser.text("output");
  if (options.output.empty()) usage("OUTPUT: empty name");
  if (!parser.has("pattern")) usage("missing --pattern; see imgpipe synth --help");
  if (!parser.has("size")) usage("missing --size; see imgpipe synth --help");
  options.shape = parse_size(parser.text("size"));
  options.shape.sample = parse_choice("depth", parser.text("depth"), kDepths);
  options.pattern = parse_pattern(parser.text("pattern"), options.shape.sample);
  if (parser.has("channels")) options.channels = parser.integer("channels", 1, 4);
  options.seed = static_cast<std::uint64_t>(
      parse_integer("seed", parser.text("seed"), 0, std::numeric_limits<std::int64_t>::max()));
  options.format = read_format(parser);
  options.encode = read_encoding(parser);
  options.encode.mark = Mark::synthetic;
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  return options;
}

CommandRow synth_command() {
  return {.name = "synth",
          .summary = "test images of known statistics",
          .description = "Writes a test image of known statistics.",
          .usage = {{"imgpipe synth OUTPUT --pattern P --size WxH [options]", ""}},
          .positional = {"output"},
          .rows = synth_rows,
          .read = [](const Parser& parser) { return ready(read_synth(parser), run_synth); }};
}

}  // namespace imgpipe

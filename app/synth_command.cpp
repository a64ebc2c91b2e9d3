#include <utility>

#include "app/command.h"
#include "app/exit_code.h"
#include "app/log.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/output_file.h"
#include "images/memory/available_memory.h"
#include "images/synth.h"
#include "images/text.h"

namespace imgpipe {

namespace {

// What the format holds of what was asked for; no alpha is dropped in silence.
Shape synth_shape(const SynthOptions& options, Format format) {
  const FormatInfo& info = format_info(format);
  const std::string name(info.name);
  Shape shape = options.shape;
  shape.channels = options.channels.value_or(info.holds_color ? 3 : 1);
  if (shape.color_channels() == 3 && !info.holds_color)
    throw Error(ErrorKind::usage, "--channels: " + name + " holds grey only: --channels 1, or write ppm");
  if (8 * sample_bytes(shape.sample) > info.written_bits)
    throw Error(ErrorKind::usage, "--depth: " + name + " holds 8 bits a sample: --depth 8, or write png");
  if (shape.has_alpha() && !info.holds_alpha)
    throw Error(ErrorKind::usage, "--channels: " + name + " holds no alpha: --channels " +
                                      std::to_string(shape.color_channels()) + ", or write png");
  return shape;
}

}  // namespace

int run_synth(const SynthOptions& options) {
  const Format format = output_format(options.output, options.format);
  check_stream(options.output);
  check_replaceable(options.output, why_no_image(options.output, options.replace, Mark::synthetic));
  const Shape shape = synth_shape(options, format);
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 34;
  if (shape.pixels() > kMaxPixels) throw Error(ErrorKind::usage, "--size: more than 2^34 pixels");
  const std::unique_ptr<Writer> writer = make_writer(format, shape, options.encode);
  check_available(shape.bytes() + writer->working_bytes());  // both live at once
  const Image image = synthesize(options.pattern, shape, options.seed);
  writer->write_rows(image.untyped_view());
  const EncodedFile file = writer->finish();
  naming(output_name(options.output), [&] { write_file(options.output, file.parts); });
  log_detail("wrote " + std::to_string(file.size_bytes()) + " bytes",
             {.input = {}, .output = output_name(options.output), .reason = {}});
  return kExitDone;
}

}  // namespace imgpipe

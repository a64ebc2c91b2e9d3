#include "app/process_options/options_digest.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "app/options/option_values.h"
#include "kernels/stage.h"
#include "pipeline/color_text.h"
#include "pipeline/parameter_text.h"

namespace imgpipe {
namespace {

std::string sha256_of(const SecondImage& image) {
  const std::string_view bytes(reinterpret_cast<const char*>(image.planes.data()), image.planes.size());
  const Shape shape = shape_of(image.type);
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.channels) + "-" + sha256(bytes);
}

std::string step_text(const StageRequest& request) {
  std::string text(request.stage->name);
  if (!makes_pixels(*request.stage)) return text;  // it only counts: its parameters change no output
  for (std::size_t i = 0; i < request.stage->parameters.size(); ++i) {
    const Parameter& row = request.stage->parameters[i];
    // The pixels of a second image determine the output, not its name.
    const bool is_image = request.image && request.parameters[i] == kOfImage &&
                          (row.kind == Parameter::Kind::image || row.kind == Parameter::Kind::operand);
    text += ":" + std::string(row.name) + "=" +
            (is_image ? sha256_of(*request.image) : value_text(row, request.parameters[i]));
  }
  return text;
}

std::string also_text(const ProcessOptions& options) {
  std::string text;
  for (const AlsoStages& also : options.stages.also) {
    text += (text.empty() ? "" : " ") + also.name;
    for (const StageRequest& step : also.steps) text += "," + step_text(step);
  }
  return text;
}

std::string steps_text(const std::vector<StageRequest>& steps,
                       const std::vector<std::size_t>& series_steps = {}) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool of_series = std::ranges::find(series_steps, i) != series_steps.end();
    text += (i == 0 ? "" : ",") + step_text(steps[i]) + (of_series ? ":range=series" : "");
  }
  return text;
}

}  // namespace

std::string pages_text(const PageSelection& pages) {
  if (pages.first == 1 && !pages.last) return "all";
  const std::string first = std::to_string(pages.first);
  return pages.alone ? first : first + "-" + (pages.last ? std::to_string(*pages.last) : "");
}

std::string bands_text(const DecodeOptions& decode) {
  if (decode.bands_of_page) {
    const std::int64_t page = *decode.bands_of_page;
    return std::string(kAllBands) + (page == 0 ? "" : " of page " + std::to_string(page + 1));
  }
  std::string text = decode.colors_only ? std::string(kColorBands) : "";
  for (const int band : decode.bands) text += (text.empty() ? "" : ",") + std::to_string(band);
  return text;
}

std::string integers_text(const DecodeOptions& decode) {
  return decode.integers ? std::string(choice_name(*decode.integers, kIntegerRules)) : "";
}

std::string decode_scale_text(const DecodeOptions& decode) {
  const std::string name(choice_name(decode.scale, kDecodeScales));
  return decode.scale == kAutoScale ? name + ":scale1" : name;
}

std::string stack_text(const StackOptions& stack) {
  if (!stack.montage) return std::string(choice_name(stack.projection, kProjections));
  const std::int64_t rows = stack.montage->rows;
  return std::to_string(stack.montage->columns) + "x" + (rows > 0 ? std::to_string(rows) : "");
}

std::string options_affecting_output(const ProcessOptions& options, const std::optional<Format>& format) {
  const EncodeOptions& encode = options.output.encode;
  const auto writes = [&](Format one) { return !format || *format == one; };
  const bool lossy_webp = writes(Format::webp) && encode.webp == WebpCoding::lossy;
  const bool deflates =
      writes(Format::png) || (writes(Format::tiff) && encode.tiff_packing == TiffPacking::deflate);
  const bool is_stack = options.stack.has_value();
  const StackOptions stack = options.stack.value_or(StackOptions());
  // Version 0.1.0 compressed with other libraries at all levels but 1.
  const std::string png_level = std::to_string(encode.png_level) + (encode.png_level == 0   ? " stored"
                                                                    : encode.png_level == 1 ? ""
                                                                                            : " libdeflate");
  struct Row {
    std::string_view key;
    std::string value;
    bool shapes = true;  // affects the bytes of this format
  };
  const Row rows[] = {
      {"stages", steps_text(options.stages.steps, options.stages.series_steps)},
      {"also", also_text(options), !options.stages.also.empty()},
      {"pages", options.pages ? pages_text(*options.pages) : ""},
      {"stack", stack_text(stack), is_stack && !stack.montage},
      {"montage", stack_text(stack), is_stack && stack.montage},
      {"background", stack.montage ? color_text(static_cast<std::uint32_t>(stack.montage->background)) : "",
       stack.montage.has_value()},
      {"stack-stages", steps_text(stack.steps), is_stack},
      {"stack-pages", pages_text(stack.pages), is_stack},
      {"stack-inputs", stack.input_states, !stack.input_states.empty()},
      {"bands", bands_text(options.decode)},
      {"integers", integers_text(options.decode), options.decode.integers.has_value()},
      {"decode-scale", decode_scale_text(options.decode), options.decode.scale != 1},
      {"lenient", options.decode.lenient() ? "true" : "false"},
      {"accept", "pillow", options.decode.accept == Acceptance::pillow},
      {"orient", options.decode.orient ? "true" : "false"},
      {"codec", std::string(choice_name(options.decode.codec, kCodecs))},
      {"format", format ? std::string(format_info(*format).name) : "own"},
      {"quality", std::to_string(encode.quality), writes(Format::jpeg) || lossy_webp},
      {"png-level", png_level, deflates},
      {"webp", std::string(choice_name(encode.webp, kWebpCodings)), writes(Format::webp)},
      {"webp-level", std::to_string(encode.webp_level), writes(Format::webp)},
      {"tiff-compression", std::string(choice_name(encode.tiff_packing, kTiffPackings)),
       writes(Format::tiff)},
      {"tiff-tile", std::to_string(encode.tiff_tile), writes(Format::tiff)},
      {"metadata", std::string(choice_name(options.output.keep_metadata, kMetadata))}};
  std::string text;
  for (const auto& [key, value, shapes] : rows) {
    if (shapes) text += std::string(key) + "=" + value + "\n";
  }
  return text;
}

std::uint64_t first_64_bits(const std::string& digest) {
  std::uint64_t bits = 0;
  std::from_chars(digest.data(), digest.data() + 16, bits, 16);
  return bits;
}

std::string options_digest(const ProcessOptions& options, const std::optional<Format>& format) {
  return sha256(options_affecting_output(options, format));
}

std::vector<std::uint64_t> also_option_hashes(const ProcessOptions& options, Format format) {
  std::vector<std::uint64_t> hashes;
  for (const AlsoStages& also : options.stages.also) {
    ProcessOptions alone = options;
    alone.stages.steps = also.steps;
    alone.stages.series_steps.clear();
    hashes.push_back(options_hash(std::move(alone), format));
  }
  return hashes;
}

std::uint64_t options_hash(ProcessOptions options, Format format) {
  options.stages.also.clear();
  if (options.decode.codec == CodecChoice::turbo) options.decode.codec = CodecChoice::automatic;
  return first_64_bits(options_digest(options, format));
}

const std::string& OptionsDigests::of(Format format) {
  std::string& digest = made_[format];
  if (digest.empty()) digest = options_digest(options_, format);
  return digest;
}

}  // namespace imgpipe

#include "app/options/options_digest.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <sha256.h>
#include <sys/types.h>

#include "app/options/option_values.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

template <class Value, std::size_t N>
std::string_view name_of(Value value, const Choices<Value, N>& choices) {
  return std::ranges::find(choices, value, &std::pair<std::string_view, Value>::second)->first;
}

std::string step_text(const StageRequest& request) {
  std::string text(request.stage->name);
  for (std::size_t i = 0; i < request.stage->parameters.size(); ++i) {
    const Parameter& row = request.stage->parameters[i];
    text += ":" + std::string(row.name) + "=" + value_text(row, request.parameters[i]);
  }
  return text;
}

std::string steps_text(const ProcessOptions& options) {
  std::string text;
  for (std::size_t i = 0; i < options.stages.size(); ++i) {
    const bool of_series = std::ranges::find(options.series_steps, i) != options.series_steps.end();
    text += (i == 0 ? "" : ",") + step_text(options.stages[i]) + (of_series ? ":range=series" : "");
  }
  return text;
}

}  // namespace

std::string pages_text(const PageSelection& pages) {
  if (pages.first == 1 && !pages.last) return "all";
  const std::string first = std::to_string(pages.first);
  return pages.alone ? first : first + "-" + (pages.last ? std::to_string(*pages.last) : "");
}

std::string shaping_options(const ProcessOptions& options, const std::optional<Format>& format) {
  const EncodeOptions& encode = options.encode;
  const std::pair<std::string_view, std::string> rows[] = {
      {"stages", steps_text(options)},
      {"pages", options.pages ? pages_text(*options.pages) : ""},
      {"lenient", options.decode.lenient ? "true" : "false"},
      {"orient", options.decode.orient ? "true" : "false"},
      {"codec", std::string(codec_name(options.decode.codec))},
      {"format", format ? std::string(format_info(*format).name) : "own"},
      {"quality", std::to_string(encode.quality)},
      {"png-level", std::to_string(encode.png_level)},
      {"webp", std::string(name_of(encode.webp, kWebpCodings))},
      {"webp-level", std::to_string(encode.webp_level)},
      {"tiff-compression", std::string(name_of(encode.tiff_packing, kTiffPackings))},
      {"tiff-tile", std::to_string(encode.tiff_tile)},
      {"metadata", std::string(name_of(options.keep_metadata, kMetadata))}};
  std::string text;
  for (const auto& [key, value] : rows) text += std::string(key) + "=" + value + "\n";
  return text;
}

std::string sha256(std::string_view bytes) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text.data());
  return text.data();
}

std::string options_digest(const ProcessOptions& options, const std::optional<Format>& format) {
  return sha256(shaping_options(options, format));
}

const std::string& OptionsDigests::of(Format format) {
  std::string& digest = made_[format];
  if (digest.empty()) digest = options_digest(options_, format);
  return digest;
}

}  // namespace imgpipe

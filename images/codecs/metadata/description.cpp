#include "images/codecs/metadata/description.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "images/codecs/metadata/ome_xml.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Removes the lines with ImageJ's display range, the values that it displays as black and white.
AdaptedDescription without_display_range(std::string_view text) {
  AdaptedDescription adapted{.text = std::vector<std::byte>(), .lost = {}};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const bool is_range = line.starts_with("min=") || line.starts_with("max=");
    // Preserves the terminating NUL.
    append_text(*adapted.text, is_range ? (line.ends_with('\0') ? "\0"sv : ""sv) : line);
    at = end;
  }
  if (adapted.text->size() < text.size())
    adapted.lost.emplace_back("ImageJ's display range (sample values changed)");
  return adapted;
}

AdaptedDescription adapted_ome_xml(std::string_view text, const ImageChanges& use) {
  const std::size_t zeros = text.size() - std::min(text.find_last_not_of('\0') + 1, text.size());
  try {
    AdaptedOmeXml adapted = adapt_ome_xml(text.substr(0, text.size() - zeros), use.file_name, use.revalued);
    std::vector<std::byte> bytes;
    append_text(bytes, adapted.text + std::string(zeros, '\0'));
    return {std::move(bytes), std::move(adapted.lost)};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    return {std::nullopt, {"OME-XML (" + std::string(error.what()) + ")"}};
  }
}

// Returns why the description does not fit the written image; empty if it does. OME-XML and tifffile's
// {"shape": [rows, columns]} contain the shape, ImageJ's description the pixel size.
std::string reason_to_drop(std::string_view kind, std::span<const std::byte> description,
                           const ImageChanges& use) {
  const bool counts_pages = kind == "OME-XML" || imagej_images(description) > 1;
  if (counts_pages && !use.whole_stack) return "describes all pages of the stack";
  if (kind == "OME-XML" || kind == "tifffile") return std::string(use.reshaped);
  return kind == "ImageJ" && use.scaled ? "image was resized" : "";
}

}  // namespace

std::int64_t imagej_images(std::span<const std::byte> description) {
  if (!matches_at(description, 0, "ImageJ="sv)) return 1;
  const std::string_view text(reinterpret_cast<const char*>(description.data()), description.size());
  const std::string_view key = "\nimages=";
  const std::size_t at = text.find(key);
  if (at == text.npos) return 1;
  std::int64_t images = 1;
  const char* const begin = text.data() + at + key.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), images);
  const bool is_line = end == text.data() + text.size() || *end == '\n' || *end == '\r' || *end == '\0';
  return error == std::errc() && is_line && images > 1 ? images : 1;
}

std::string_view description_kind(std::span<const std::byte> description) {
  const std::string_view text = text_of(description);
  if (text.find("<OME") != text.npos || text.find(":OME ") != text.npos) return "OME-XML";
  if (text.starts_with("ImageJ=")) return "ImageJ";
  return text.starts_with("{\"shape\"") ? "tifffile" : "text";
}

std::string description_name(std::span<const std::byte> description) {
  const std::string_view kind = description_kind(description);
  if (kind == "OME-XML") return "OME-XML";
  return kind == "text" ? "description" : std::string(kind) + " description";
}

AdaptedDescription adapt_description(std::span<const std::byte> description, const ImageChanges& use) {
  const std::string_view kind = description_kind(description);
  const std::string reason = reason_to_drop(kind, description, use);
  if (!reason.empty()) return {std::nullopt, {description_name(description) + " (" + reason + ")"}};
  if (kind == "OME-XML") return adapted_ome_xml(text_of(description), use);
  if (kind == "ImageJ" && use.revalued) return without_display_range(text_of(description));
  return {std::vector<std::byte>(description.begin(), description.end()), {}};
}

}  // namespace imgpipe

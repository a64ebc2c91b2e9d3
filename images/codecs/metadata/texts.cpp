#include "images/codecs/metadata/texts.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/metadata.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {

bool is_utf8(std::string_view text) {
  std::uint32_t character = 0;
  while (!text.empty()) {
    const std::size_t bytes = utf8_length(text, character);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string utf8_of_latin1(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const auto character = static_cast<unsigned char>(c);
    if (character >= 0x80) made += static_cast<char>(0xC0 | character >> 6);
    made += static_cast<char>(character < 0x80 ? character : 0x80 | (character & 0x3F));
  }
  return made;
}

std::optional<std::string> latin1_of_utf8(std::string_view text) {
  std::string made;
  std::uint32_t character = 0;
  while (!text.empty()) {
    const std::size_t bytes = utf8_length(text, character);
    if (bytes == 0 || character > 0xFF) return std::nullopt;
    made += static_cast<char>(character);
    text.remove_prefix(bytes);
  }
  return made;
}

void FoundMetadata::add_comment(std::span<const std::byte> comment) {
  MetadataText made;
  for (const std::byte byte : comment) made.text += static_cast<char>(byte);
  made.text.resize(made.text.find_last_not_of('\0') + 1);
  if (made.text.empty()) return;
  made.latin1 = !is_utf8(made.text);
  if (made.latin1) made.text = utf8_of_latin1(made.text);
  made.international = !made.latin1 && std::ranges::any_of(made.text, [](char c) { return (c & 0x80) != 0; });
  add_text(std::move(made));
}

void FoundMetadata::add_text(MetadataText text) {
  const bool comment = text.is_comment();
  std::size_t bytes = text.text.size();
  for (const MetadataText& one : texts) bytes += one.text.size();
  const bool has_nul = (text.text + text.language + text.translated_keyword).find('\0') != std::string::npos;
  if (!has_nul && bytes <= kMaxTextBytes && texts.size() < kMaxTexts) return texts.push_back(std::move(text));
  const std::string name = comment ? "comment" : "text \"" + printable(text.keyword) + "\"";
  lose(name + (has_nul ? " (damaged: contains a NUL byte)" : " (too long)"));
}

void FoundMetadata::lose(std::string name) {
  constexpr std::size_t kMaxNames = 32;
  if (lost.size() >= kMaxNames) name = "other metadata";
  if (std::ranges::find(lost, name) == lost.end()) lost.push_back(std::move(name));
}

void report_exif_only_metadata(FoundMetadata& found) {
  if (found.exif.empty() || found.exif_in_file) return;
  try {
    const ExifBlock block = parse_exif(found.exif);
    if (block.had_iptc && found.iptc.empty()) found.lose("IPTC (in EXIF)");
    if (block.had_xmp && found.xmp.empty()) found.lose("XMP (in EXIF)");
    if (block.had_profile && found.icc.empty()) found.lose("ICC profile (in EXIF)");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;  // damaged EXIF is reported as a whole
  }
}

}  // namespace imgpipe

#include "images/codecs/metadata/xmp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/metadata/xml.h"
#include "images/codecs/metadata/xmp_appended_files.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Returns the length of the character at `at`; 0 if it is invalid UTF-8 (RFC 3629) or not allowed in XML.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return first >= 0x20 || kXmlSpaces.find(text[at]) != std::string_view::npos ? 1 : 0;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < bytes) return 0;
  std::uint32_t character = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, at + i) & 0xC0) != 0x80) return 0;
    character = character << 6 | (byte_at(text, at + i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  return character < kLeast[bytes] || character > 0x10FFFF || surrogate ? 0 : bytes;
}

// Throws unless the elements are nested correctly and include rdf:RDF.
void check_elements(std::string_view text) {
  const auto is_rdf = [text](const XmlElement& element) { return element.name(text) == "rdf:RDF"sv; };
  if (std::ranges::none_of(xml_elements(text), is_rdf)) fail_damaged("no rdf:RDF");
}

// Removes `<xmp:Thumbnails>...</xmp:Thumbnails>`, which cannot be nested. Returns whether it found any.
bool drop_thumbnails(std::string& text) {
  const std::size_t bytes = text.size();
  constexpr std::string_view kBegin = "<xmp:Thumbnails"sv, kEnd = "</xmp:Thumbnails>"sv;
  for (std::size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos;) {
    const std::size_t next = at + kBegin.size();
    const bool whole_name =
        next < text.size() && (text[next] == '>' || kXmlSpaces.find(text[next]) != std::string_view::npos);
    const std::size_t end = text.find(kEnd, next);
    if (!whole_name || end == std::string::npos) {
      at = next;
      continue;
    }
    text.erase(at, end + kEnd.size() - at);
  }
  return text.size() < bytes;
}

// Returns the offset of the digit in the next tiff:Orientation="6" or <tiff:Orientation>6</tiff:Orientation>.
std::size_t next_orientation(std::string_view text, std::size_t at) {
  constexpr std::string_view kName = "tiff:Orientation"sv;
  while ((at = text.find(kName, at)) != std::string_view::npos) {
    at += kName.size();
    std::size_t digit = text.find_first_not_of(kXmlSpaces, at);
    if (digit == std::string_view::npos) break;
    const bool attribute = text[digit] == '=';
    if (!attribute && text[digit] != '>') continue;
    digit = text.find_first_not_of(attribute ? " \t\r\n\"'" : kXmlSpaces, digit + 1);
    const auto is_digit = [text](std::size_t i) {
      return i < text.size() && text[i] >= '0' && text[i] <= '9';
    };
    if (is_digit(digit) && text[digit] >= '1' && text[digit] <= '8' && !is_digit(digit + 1)) return digit;
  }
  return std::string_view::npos;
}

void reset_orientation(std::string& text) {
  std::size_t digit = 0;
  while ((digit = next_orientation(text, digit)) != std::string::npos) text[digit] = '1';
}

std::string_view packet_text(std::span<const std::byte> packet) {
  return {reinterpret_cast<const char*>(packet.data()), packet.size()};
}

}  // namespace

std::vector<std::byte> checked_xmp(std::span<const std::byte> packet, bool orientation_applied,
                                   std::vector<std::string>* removed) {
  std::string text(packet_text(packet));
  // Some writers add trailing NULs.
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes == 0) fail_damaged("not UTF-8 text");
    at += bytes;
  }
  check_elements(text);
  std::vector<std::string> appended = remove_appended_files(text);
  if (removed != nullptr) *removed = std::move(appended);
  if (drop_thumbnails(text) && removed != nullptr) removed->emplace_back("XMP thumbnail");
  if (orientation_applied) reset_orientation(text);
  check_elements(text);  // again, after the removals
  std::vector<std::byte> checked;
  append_text(checked, text);
  return checked;
}

Orientation xmp_orientation(std::span<const std::byte> packet) {
  if (next_orientation(packet_text(packet), 0) == std::string_view::npos) return Orientation::upright;
  try {
    const std::vector<std::byte> checked = checked_xmp(packet, false);
    const std::string_view text = packet_text(checked);
    const std::size_t digit = next_orientation(text, 0);
    return digit == std::string_view::npos ? Orientation::upright
                                           : static_cast<Orientation>(text[digit] - '0');
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    return Orientation::upright;
  }
}

bool remove_xmp_resolution(std::vector<std::byte>& packet) {
  constexpr std::array kNames{"tiff:XResolution"sv, "tiff:YResolution"sv, "tiff:ResolutionUnit"sv};
  const auto is_of_resolution = [&](std::string_view name) {
    return std::ranges::find(kNames, name) != kNames.end();
  };
  const std::string_view text = packet_text(packet);
  if (text.find("Resolution"sv) == std::string_view::npos) return false;
  XmlEdits edits(text);
  for (const XmlElement& element : xml_elements(text)) {
    if (is_of_resolution(element.name(text))) edits.remove(element);
    for (const XmlAttribute& attribute : xml_attributes(text, element))
      if (is_of_resolution(attribute.name)) edits.remove(attribute.whole);
  }
  if (edits.empty()) return false;
  const std::string kept = edits.apply();
  packet.clear();
  append_text(packet, kept);
  return true;
}

bool is_extended_xmp(std::span<const std::byte> packet) {
  constexpr std::string_view kName = "xmpNote:HasExtendedXMP"sv;
  return packet_text(packet).find(kName) != std::string_view::npos;
}

}  // namespace imgpipe

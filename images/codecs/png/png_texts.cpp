#include "images/codecs/png/png_texts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "images/codecs/mark.h"
#include "images/codecs/metadata/iptc.h"
#include "images/codecs/metadata/texts.h"
#include "images/codecs/metadata/xmp.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/inflate.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kRawProfile = "Raw profile type "sv;

std::string string_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Strings as they are stored: keywords are in Latin-1, and so are the texts of tEXt and zTXt.
struct StoredText {
  std::string keyword{}, language{}, translated_keyword{};
  std::optional<std::vector<std::byte>> text{};  // nullopt: damaged or too long
};

StoredText read_text(Bytes data, std::string_view type, std::size_t most) {
  StoredText stored;
  std::size_t at = 0;
  const auto next_string = [&] {
    const std::size_t end = after_png_string(data, at);
    const bool ends = end > at && data[end - 1] == std::byte{0};
    std::string text = string_of(data.subspan(at, end - at - (ends ? 1 : 0)));
    at = end;
    return text;
  };
  const auto next_byte = [&] {
    const std::uint32_t byte = big_endian(data, at, 1);
    at = std::min(at + 1, data.size());
    return byte;
  };
  const bool international = type == "iTXt"sv;
  stored.keyword = next_string();
  const std::uint32_t compressed = international ? next_byte() : type == "zTXt"sv ? 1 : 0;
  const std::uint32_t method = type == "tEXt"sv ? 0 : next_byte();
  if (international) {
    stored.language = next_string();
    stored.translated_keyword = next_string();
  }
  const Bytes rest = data.subspan(at);
  if (compressed == 0 && rest.size() <= most) stored.text.emplace(rest.begin(), rest.end());
  if (compressed == 1 && method == 0) stored.text = inflated_png_data(rest, most);
  return stored;
}

// Parses "\nNAME\n    LENGTH\n", then the bytes in hexadecimal digits (ImageMagick, coders/png.c).
std::optional<std::vector<std::byte>> raw_profile(std::string_view text) {
  const std::size_t name = std::min(text.find_first_not_of('\n'), text.size());
  std::size_t at = text.find_first_of("0123456789", std::min(text.find('\n', name), text.size()));
  std::size_t length = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && length <= text.size(); ++at)
    length = 10 * length + static_cast<std::size_t>(text[at] - '0');
  constexpr std::string_view kDigits = "0123456789abcdef"sv;
  std::vector<std::byte> bytes;
  std::size_t digits = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '\n' || text[at] == ' ') continue;
    const bool is_upper = text[at] >= 'A' && text[at] <= 'F';
    const std::size_t digit = kDigits.find(is_upper ? static_cast<char>(text[at] + 32) : text[at]);
    if (digit == std::string_view::npos) return std::nullopt;
    if (digits++ % 2 == 0) bytes.push_back(std::byte{0});
    bytes.back() = bytes.back() << 4 | static_cast<std::byte>(digit);
  }
  return digits > 0 && digits == 2 * length ? std::optional(std::move(bytes)) : std::nullopt;
}

// Reads IPTC, which is stored either as bare datasets or in Photoshop's resources. The specification has
// chunks for other profiles; copies that old programs wrote as text are not read.
void read_raw_profile(const StoredText& stored, FoundMetadata& found) {
  const std::string name = stored.keyword.substr(kRawProfile.size());
  if (name != "iptc" && name != "8bim") return found.lose(printable(name) + " profile (in hexadecimal text)");
  const auto bytes = stored.text ? raw_profile(string_of(*stored.text)) : std::nullopt;
  if (!bytes || bytes->size() > kMaxIptcBytes) return found.lose("IPTC (damaged or too long)");
  if (!matches_at(*bytes, 0, "\x1C"sv)) return find_photoshop_metadata(*bytes, found);
  if (found.iptc.empty()) found.iptc = *bytes;
}

// Latin-1, 1 to 79 printable characters (clause 11.3.3.1).
bool is_keyword(std::string_view keyword) {
  constexpr std::size_t kMaxBytes = 79;
  return !keyword.empty() && keyword.size() <= kMaxBytes && std::ranges::all_of(keyword, [](char c) {
    const auto character = static_cast<unsigned char>(c);
    return (character >= 0x20 && character < 0x7F) || character > 0xA0;
  });
}

// Letters, digits and hyphens (RFC 5646); may be empty.
bool is_language(std::string_view language) {
  return std::ranges::all_of(language, [](char c) {
    return c == '-' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  });
}

// Appends a text chunk; compresses long texts.
void append_text_chunk(std::vector<std::byte>& out, const MetadataText& text) {
  constexpr std::size_t kLongBytes = 1024;
  const std::optional<std::string> latin1 = text.international ? std::nullopt : latin1_of_utf8(text.text);
  const std::string& stored = latin1 ? *latin1 : text.text;
  const bool compressed = stored.size() > kLongBytes;
  std::string head = latin1_of_utf8(text.keyword).value_or(text.keyword) + '\0';
  if (latin1 && compressed) head += '\0';  // the method
  if (!latin1) {
    head += compressed ? "\1\0"s : "\0\0"s;
    head += text.language + '\0' + text.translated_keyword + '\0';
  }
  const char* const type = !latin1 ? "iTXt" : compressed ? "zTXt" : "tEXt";
  if (compressed) return append_compressed_png_chunk(out, type, head, std::as_bytes(std::span(stored)));
  append_png_chunk(out, type, std::as_bytes(std::span(head += stored)));
}

void append_raw_profile(std::vector<std::byte>& out, const std::string& name, Bytes bytes) {
  constexpr std::size_t kLineBytes = 36, kLengthDigits = 8;
  constexpr std::string_view kDigits = "0123456789abcdef"sv;
  const std::string length = std::to_string(bytes.size());
  std::string text = "\n" + name + "\n" + std::string(kLengthDigits - length.size(), ' ') + length;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % kLineBytes == 0) text += '\n';
    text += kDigits[std::to_integer<std::size_t>(bytes[i] >> 4)];
    text += kDigits[std::to_integer<std::size_t>(bytes[i] & std::byte{15})];
  }
  text += '\n';
  append_compressed_png_chunk(out, "zTXt", std::string(kRawProfile) + name + "\0\0"s,
                              std::as_bytes(std::span(text)));
}

}  // namespace

std::optional<std::vector<std::byte>> inflated_png_data(std::span<const std::byte> stream, std::size_t most) {
  constexpr std::size_t kStepBytes = std::size_t{64} << 10;
  std::vector<std::byte> out;
  try {
    ZlibInflater inflater;
    std::size_t made = 1;
    while (made > 0 && out.size() <= most) {
      const std::size_t before = out.size();
      out.resize(before + kStepBytes);
      made = inflater.inflate(stream, std::span(out).subspan(before));
      out.resize(before + made);
    }
    if (out.size() > most || !inflater.finished()) return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    return std::nullopt;
  }
  return out;
}

std::size_t after_png_string(std::span<const std::byte> data, std::size_t from) {
  const auto begin = data.begin() + static_cast<std::ptrdiff_t>(std::min(from, data.size()));
  const auto zero = std::find(begin, data.end(), std::byte{0});
  return zero == data.end() ? data.size() : static_cast<std::size_t>(zero - data.begin()) + 1;
}

void append_png_chunk(std::vector<std::byte>& out, std::string_view type, std::span<const std::byte> data) {
  append_big_endian(out, data.size(), 4);
  const std::size_t start = out.size();
  append_text(out, type);
  out.insert(out.end(), data.begin(), data.end());
  append_big_endian(out, crc32_of(Bytes(out).subspan(start)), 4);
}

void append_compressed_png_chunk(std::vector<std::byte>& out, std::string_view type, std::string_view head,
                                 std::span<const std::byte> bytes) {
  std::vector<std::byte> data;
  append_text(data, head);
  const std::vector<std::byte> packed = zlib_stream(bytes);
  data.insert(data.end(), packed.begin(), packed.end());
  append_png_chunk(out, type, data);
}

bool is_png_text(std::string_view type) {
  return type == "tEXt"sv || type == "zTXt"sv || type == "iTXt"sv;
}

void read_png_text(std::span<const std::byte> data, std::string_view type, bool right, FoundMetadata& found) {
  constexpr std::size_t kMaxRawBytes = 3 * kMaxIptcBytes;  // two digits per byte, and line breaks
  const bool xmp = type == "iTXt"sv && matches_at(data, 0, kPngXmpKeyword),
             raw = matches_at(data, 0, kRawProfile);
  if (!right) return found.lose(xmp ? "XMP (damaged)" : "text (damaged)");
  if (xmp && !found.xmp.empty()) return found.lose("second XMP packet");
  StoredText stored = read_text(data, type, xmp ? kMaxXmpBytes : raw ? kMaxRawBytes : kMaxTextBytes);
  if (raw) return read_raw_profile(stored, found);
  if (xmp) {
    if (!stored.text || stored.text->empty()) return found.lose("XMP (damaged or too long)");
    found.xmp = std::move(*stored.text);
    return;
  }
  if (!is_keyword(stored.keyword)) return found.lose("text (damaged: invalid keyword)");
  MetadataText text{.keyword = utf8_of_latin1(stored.keyword),
                    .international = type == "iTXt"sv,
                    .language = std::move(stored.language),
                    .translated_keyword = std::move(stored.translated_keyword)};
  const std::string name = "text \"" + printable(text.keyword) + "\"";
  if (!stored.text) return found.lose(name + " (damaged or too long)");
  text.text = string_of(*stored.text);
  if (!text.international) text.text = utf8_of_latin1(text.text);
  if (!is_utf8(text.text) || !is_utf8(text.translated_keyword) || !is_language(text.language))
    return found.lose(name + " (damaged: not UTF-8)");
  const bool mark = text.keyword == "Software" && mark_of(std::as_bytes(std::span(text.text))) != Mark::none;
  if (!mark) found.add_text(std::move(text));
}

Orientation png_xmp_orientation(std::span<const std::byte> data) {
  FoundMetadata found;
  read_png_text(data, "iTXt"sv, true, found);
  return xmp_orientation(found.xmp);
}

void append_png_texts(std::vector<std::byte>& out, const Metadata& metadata) {
  if (!metadata.xmp.empty()) {
    std::string data(kPngXmpKeyword);
    data += "\0\0\0\0"s;  // not compressed; no language, no translated keyword
    data += string_of(metadata.xmp);
    append_png_chunk(out, "iTXt", std::as_bytes(std::span(data)));
  }
  if (!metadata.iptc.empty()) append_raw_profile(out, "iptc", iptc_resource(metadata.iptc));
  for (const MetadataText& text : metadata.texts) append_text_chunk(out, text);
}

}  // namespace imgpipe

#include "images/codecs/metadata/xmp.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostDepth = 256;
constexpr std::string_view kSpaces = " \t\r\n"sv;

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "damaged: " + reason);
}

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// The bytes of the character at `at`; 0: it is none (RFC 3629), or one that XML does not allow.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return first >= 0x20 || kSpaces.find(text[at]) != std::string_view::npos ? 1 : 0;
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

// Checks that elements nest; attributes' values may hold '>'.
class Elements {
 public:
  explicit Elements(std::string_view text) : text_(text) {}

  void check() {
    while ((at_ = text_.find('<', at_)) != std::string_view::npos) {
      if (skip("<?"sv, "?>"sv) || skip("<!--"sv, "-->"sv) || skip("<![CDATA["sv, "]]>"sv)) continue;
      if (stands("<!"sv)) fail("a declaration");
      if (stands("</"sv)) {
        close();
      } else {
        open();
      }
    }
    if (!open_.empty()) fail("an element does not end");
    if (!found_) fail("no rdf:RDF");
  }

 private:
  [[nodiscard]] bool stands(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  bool skip(std::string_view begin, std::string_view end) {
    if (!stands(begin)) return false;
    const std::size_t found = text_.find(end, at_ + begin.size());
    if (found == std::string_view::npos) fail("an element does not end");
    at_ = found + end.size();
    return true;
  }

  std::string_view name() {
    const std::size_t end = std::min(text_.find_first_of("/> \t\r\n<\"'=", at_), text_.size());
    const std::string_view found = text_.substr(at_, end - at_);
    if (found.empty()) fail("an element without a name");
    at_ = end;
    return found;
  }

  void close() {
    at_ += 2;
    const std::string_view found = name();
    at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size());
    if (!stands(">"sv) || open_.empty() || open_.back() != found) fail("elements do not nest");
    open_.pop_back();
    ++at_;
  }

  void open() {
    ++at_;
    const std::string_view found = name();
    found_ = found_ || found == "rdf:RDF"sv;
    char quote = 0;
    for (; at_ < text_.size() && (quote != 0 || text_[at_] != '>'); ++at_) {
      const char c = text_[at_];
      if (c == '<') fail("elements do not nest");
      if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      }
    }
    if (at_ == text_.size()) fail("an element does not end");
    if (text_[at_ - 1] != '/') open_.push_back(found);
    if (open_.size() > kMostDepth) fail("elements nest too deep");
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string_view> open_;
  bool found_ = false;
};

// `<xmp:Thumbnails>...</xmp:Thumbnails>`, which does not nest in itself.
void drop_thumbnails(std::string& text) {
  constexpr std::string_view kBegin = "<xmp:Thumbnails"sv, kEnd = "</xmp:Thumbnails>"sv;
  for (std::size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos;) {
    const std::size_t next = at + kBegin.size();
    const bool whole_name =
        next < text.size() && (text[next] == '>' || kSpaces.find(text[next]) != std::string_view::npos);
    const std::size_t end = text.find(kEnd, next);
    if (!whole_name || end == std::string::npos) {
      at = next;
      continue;
    }
    text.erase(at, end + kEnd.size() - at);
  }
}

// tiff:Orientation="6", and <tiff:Orientation>6</tiff:Orientation>.
void reset_orientation(std::string& text) {
  constexpr std::string_view kName = "tiff:Orientation"sv;
  for (std::size_t at = 0; (at = text.find(kName, at)) != std::string::npos;) {
    at += kName.size();
    std::size_t digit = text.find_first_not_of(kSpaces, at);
    if (digit == std::string::npos) return;
    const bool attribute = text[digit] == '=';
    if (!attribute && text[digit] != '>') continue;
    digit = text.find_first_not_of(attribute ? " \t\r\n\"'" : kSpaces, digit + 1);
    if (digit != std::string::npos && text[digit] >= '1' && text[digit] <= '8') text[digit] = '1';
  }
}

}  // namespace

std::vector<std::byte> checked_xmp(std::span<const std::byte> packet, bool orientation_applied) {
  std::string text(reinterpret_cast<const char*>(packet.data()), packet.size());
  // The trailing zero that some writers add.
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    if (bytes == 0) fail("no UTF-8 text");
    at += bytes;
  }
  Elements(text).check();
  drop_thumbnails(text);
  if (orientation_applied) reset_orientation(text);
  Elements(text).check();  // whatever was cut out of it
  std::vector<std::byte> checked;
  append_text(checked, text);
  return checked;
}

bool is_extended_xmp(std::span<const std::byte> packet) {
  constexpr std::string_view kName = "xmpNote:HasExtendedXMP"sv;
  const std::string_view text(reinterpret_cast<const char*>(packet.data()), packet.size());
  return text.find(kName) != std::string_view::npos;
}

}  // namespace imgpipe

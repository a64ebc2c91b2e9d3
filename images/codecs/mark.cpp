#include "images/codecs/mark.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "images/codecs/png/deflate.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;
using namespace std::string_view_literals;

constexpr std::array kMarks{Mark::result, Mark::synthetic};
constexpr std::string_view kSoftware = "Software\0"sv;
constexpr std::size_t kPngHead = 33;   // signature and IHDR
constexpr std::size_t kJfifHead = 20;  // SOI and the APP0 segment that stb_image_write begins with
constexpr std::size_t kTgaHead = 18;
constexpr std::size_t kBmpReserved = 6;

std::string_view bmp_text(Mark mark) {
  return mark == Mark::result ? "impr"sv : "imps"sv;
}

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void append(std::vector<std::byte>& out, std::string_view text) {
  const Bytes bytes = bytes_of(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_number(std::vector<std::byte>& out, std::size_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

void insert(std::vector<std::byte>& file, std::size_t at, Bytes bytes) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
}

// The text that a mark would be: of a tEXt chunk, of a comment.
Mark mark_of(Bytes text) {
  for (const Mark mark : kMarks) {
    if (text.size() == mark_text(mark).size() && stands_at(text, 0, mark_text(mark))) return mark;
  }
  return Mark::none;
}

Bytes part(Bytes bytes, std::size_t at, std::size_t count) {
  if (at > bytes.size() || bytes.size() - at < count) return {};
  return bytes.subspan(at, count);
}

// Chunk by chunk up to the pixels.
Mark find_in_png(Bytes head) {
  for (std::size_t at = 8; at + 8 <= head.size();) {
    const std::size_t length = big_endian(head, at, 4);
    if (stands_at(head, at + 4, "IDAT")) break;
    if (stands_at(head, at + 4, "tEXt") && stands_at(head, at + 8, kSoftware) && length > kSoftware.size()) {
      const Mark mark = mark_of(part(head, at + 8 + kSoftware.size(), length - kSoftware.size()));
      if (mark != Mark::none) return mark;
    }
    at += length + 12;
  }
  return Mark::none;
}

// Segment by segment up to the frame or scan.
Mark find_in_jpeg(Bytes head) {
  for (std::size_t at = 2; at + 4 <= head.size() && head[at] == std::byte{0xFF};) {
    const std::uint32_t marker = big_endian(head, at + 1, 1);
    const std::size_t length = big_endian(head, at + 2, 2);
    const bool application = marker >= 0xE0 && marker <= 0xEF;
    if (length < 2 || (marker != 0xFE && marker != 0xDB && !application)) break;
    if (marker == 0xFE) {
      const Mark mark = mark_of(part(head, at + 4, length - 2));
      if (mark != Mark::none) return mark;
    }
    at += 2 + length;
  }
  return Mark::none;
}

}  // namespace

std::string_view mark_text(Mark mark) {
  switch (mark) {
    case Mark::result:
      return "imgpipe"sv;
    case Mark::synthetic:
      return "imgpipe synth"sv;
    default:
      return ""sv;
  }
}

std::vector<std::byte> png_mark(Mark mark) {
  std::vector<std::byte> chunk;
  append_number(chunk, kSoftware.size() + mark_text(mark).size(), 4);
  append(chunk, "tEXt"sv);
  append(chunk, kSoftware);
  append(chunk, mark_text(mark));
  append_number(chunk, crc32_of(Bytes(chunk).subspan(4)), 4);
  return chunk;
}

void add_mark(std::vector<std::byte>& file, Format format, Mark mark) {
  const std::string_view text = mark_text(mark);
  if (text.empty()) return;
  if (format == Format::png) {
    insert(file, kPngHead, png_mark(mark));
  } else if (format == Format::jpeg) {
    std::vector<std::byte> comment{std::byte{0xFF}, std::byte{0xFE}};
    append_number(comment, text.size() + 2, 2);
    append(comment, text);
    insert(file, kJfifHead, comment);
  } else if (format == Format::tga) {
    file[0] = static_cast<std::byte>(text.size());
    insert(file, kTgaHead, bytes_of(text));
  } else if (format == Format::bmp) {
    std::ranges::copy(bytes_of(bmp_text(mark)), file.begin() + kBmpReserved);
  }
}

Mark find_mark(Bytes head) {
  const std::optional<Format> format = format_by_content(head);
  if (!format) return Mark::none;
  if (*format == Format::png) return find_in_png(head);
  if (*format == Format::jpeg) return find_in_jpeg(head);
  for (const Mark mark : kMarks) {
    const std::string text(mark_text(mark));
    const bool netpbm = *format == Format::pgm || *format == Format::ppm;
    if (netpbm && stands_at(head, 2, "\n# " + text + "\n")) return mark;
    if (*format == Format::tga && big_endian(head, 0, 1) == text.size() && stands_at(head, kTgaHead, text))
      return mark;
    if (*format == Format::bmp && stands_at(head, kBmpReserved, bmp_text(mark))) return mark;
  }
  return Mark::none;
}

}  // namespace imgpipe

#include "images/codecs/png/png_codec.h"

#include <string_view>

#include "images/codecs/mark.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_mark.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSoftware = "Software\0"sv;

}  // namespace

bool is_png(Bytes beginning) {
  return stands_at(beginning, 0, "\x89PNG\r\n\x1A\n"sv);
}

FileClaim png_claim(Bytes beginning) {
  return {.width = big_endian(beginning, 16, 4), .height = big_endian(beginning, 20, 4)};
}

std::vector<std::byte> png_mark(Mark mark) {
  std::vector<std::byte> chunk;
  append_big_endian(chunk, kSoftware.size() + mark_text(mark).size(), 4);
  append_text(chunk, "tEXt"sv);
  append_text(chunk, kSoftware);
  append_text(chunk, mark_text(mark));
  append_big_endian(chunk, crc32_of(Bytes(chunk).subspan(4)), 4);
  return chunk;
}

void add_png_mark(std::vector<std::byte>& file, Mark mark) {
  constexpr std::size_t kPngHead = 33;  // signature and IHDR
  if (mark != Mark::none) insert_bytes(file, kPngHead, png_mark(mark));
}

// Chunk by chunk up to the pixels.
Mark find_png_mark(Bytes beginning) {
  for (std::size_t at = 8; at + 8 <= beginning.size();) {
    const std::size_t length = big_endian(beginning, at, 4);
    if (stands_at(beginning, at + 4, "IDAT")) break;
    const bool software = stands_at(beginning, at + 4, "tEXt") && stands_at(beginning, at + 8, kSoftware);
    if (software && length > kSoftware.size()) {
      const Mark mark = mark_of(bytes_at(beginning, at + 8 + kSoftware.size(), length - kSoftware.size()));
      if (mark != Mark::none) return mark;
    }
    at += length + 12;
  }
  return Mark::none;
}

}  // namespace imgpipe

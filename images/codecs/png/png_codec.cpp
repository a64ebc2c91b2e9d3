#include "images/codecs/png/png_codec.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "images/codecs/mark.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_mark.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kSoftware = "Software\0"sv;

// Finds the end of the chunk IEND.
class PngEnd final : public EndFinder {
 public:
  bool find(Bytes image, bool /*all*/) override {
    while (!last_ && image.size() >= at_ + kChunkHeadBytes) {
      const std::size_t length = big_endian(image, at_, 4);
      if (length > kMaxChunkBytes || !has_type(image.subspan(at_ + 4, 4)))
        throw Error(ErrorKind::input, "PNG: invalid chunk at byte " + std::to_string(at_));
      last_ = matches_at(image, at_ + 4, "IEND");
      at_ += kChunkHeadBytes + length + kCrcBytes;
    }
    return last_ && ends_at(image, at_);
  }

 private:
  static constexpr std::size_t kChunkHeadBytes = 8;
  static constexpr std::size_t kCrcBytes = 4;
  static constexpr std::size_t kMaxChunkBytes = 0x7FFFFFFF;

  static bool has_type(Bytes type) {
    return std::ranges::all_of(type, [](std::byte letter) {
      const auto lower = std::to_integer<unsigned>(letter) | 0x20U;
      return lower >= 'a' && lower <= 'z';
    });
  }

  std::size_t at_ = 8;  // offset of the next chunk, or the end
  bool last_ = false;
};

}  // namespace

std::unique_ptr<EndFinder> find_png_end() {
  return std::make_unique<PngEnd>();
}

bool is_png(Bytes beginning) {
  return matches_at(beginning, 0, "\x89PNG\r\n\x1A\n"sv);
}

FileClaim png_claim(Bytes beginning) {
  return {.width = big_endian(beginning, 16, 4), .height = big_endian(beginning, 20, 4)};
}

std::vector<std::byte> png_mark(const Mark& mark) {
  const std::string text = mark_text(mark);
  std::vector<std::byte> chunk;
  append_big_endian(chunk, kSoftware.size() + text.size(), 4);
  append_text(chunk, "tEXt"sv);
  append_text(chunk, kSoftware);
  append_text(chunk, text);
  append_big_endian(chunk, crc32_of(Bytes(chunk).subspan(4)), 4);
  return chunk;
}

void add_png_mark(std::vector<std::byte>& file, const Mark& mark) {
  constexpr std::size_t kPngHead = 33;  // signature and IHDR
  if (mark != Mark::none) insert_bytes(file, kPngHead, png_mark(mark));
}

// Searches the chunks before the pixels.
Mark find_png_mark(Bytes beginning) {
  for (std::size_t at = 8; at + 8 <= beginning.size();) {
    const std::size_t length = big_endian(beginning, at, 4);
    if (matches_at(beginning, at + 4, "IDAT")) break;
    const bool software = matches_at(beginning, at + 4, "tEXt") && matches_at(beginning, at + 8, kSoftware);
    if (software && length > kSoftware.size()) {
      const Mark mark = mark_of(bytes_at(beginning, at + 8 + kSoftware.size(), length - kSoftware.size()));
      if (mark != Mark::none) return mark;
    }
    at += length + 12;
  }
  return Mark::none;
}

}  // namespace imgpipe

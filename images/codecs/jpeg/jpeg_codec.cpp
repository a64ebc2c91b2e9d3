#include "images/codecs/jpeg/jpeg_codec.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hwy/base.h>

#include "images/codecs/jpeg/baseline_reader.h"
#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/jpeg/library_check.h"
#include "images/codecs/mark.h"
#include "images/codecs/sniff.h"

namespace imgpipe {

using namespace std::string_view_literals;

bool is_jpeg(Bytes beginning) {
  return matches_at(beginning, 0, "\xFF\xD8\xFF"sv);
}

FileClaim jpeg_claim(Bytes beginning) {
  const JpegFacts facts = read_jpeg_facts(beginning);
  return {.width = facts.width, .height = facts.height};
}

std::unique_ptr<Reader> open_jpeg(Bytes file, const DecodeOptions& options) {
  std::unique_ptr<LibraryJpeg> library = open_library_jpeg(file, options);
  // On other architectures the library wraps and saturates out-of-range coefficients at other points.
  constexpr bool kSameArithmetic = HWY_ARCH_X86 != 0;
  if (!kSameArithmetic || options.codec == CodecChoice::turbo) return library;
  const std::optional<BaselineScan> scan = library->baseline();
  if (!scan || !library_decodes_identically(scan->sampling, scan->scale)) return library;
  return make_baseline_reader(std::move(library), kScanChunkBytes);
}

// Inserts a COM segment after the JFIF header (ITU-T T.81, B.2.4.5).
void add_jpeg_mark(std::vector<std::byte>& file, const Mark& mark) {
  constexpr std::size_t kJfifHead = 20;  // SOI and the APP0 segment that stb_image_write begins with
  const std::string text = mark_text(mark);
  if (text.empty()) return;
  std::vector<std::byte> comment{std::byte{0xFF}, std::byte{0xFE}};
  append_big_endian(comment, text.size() + 2, 2);
  append_text(comment, text);
  insert_bytes(file, kJfifHead, comment);
}

// Searches the segments before the frame header or scan.
Mark find_jpeg_mark(Bytes beginning) {
  for (std::size_t at = 2; at + 4 <= beginning.size() && beginning[at] == std::byte{0xFF};) {
    const std::uint32_t marker = big_endian(beginning, at + 1, 1);
    const std::size_t length = big_endian(beginning, at + 2, 2);
    const bool application = marker >= 0xE0 && marker <= 0xEF;
    if (length < 2 || (marker != 0xFE && marker != 0xDB && !application)) break;
    if (marker == 0xFE) {
      const Mark mark = mark_of(bytes_at(beginning, at + 4, length - 2));
      if (mark != Mark::none) return mark;
    }
    at += 2 + length;
  }
  return Mark::none;
}

}  // namespace imgpipe

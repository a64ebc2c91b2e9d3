#include "images/codecs/webp/webp_codec.h"

#include <string>
#include <string_view>

#include "images/codecs/mark.h"
#include "images/codecs/sniff.h"
#include "images/codecs/webp/webp_container.h"
#include "images/codecs/webp/webp_functions.h"
#include "images/error.h"
#include "images/late_library.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMarkChunk = "IMGP"sv;

// Finds the end of a WebP from its RIFF header, whose size must be even (RFC 9649, section 2.4).
class WebpEnd final : public EndFinder {
 public:
  bool find(Bytes image, bool /*all*/) override {
    constexpr std::size_t kHeadBytes = 8, kMinBytes = 20;
    if (image.size() < kHeadBytes) return false;
    const std::size_t bytes = kHeadBytes + little_endian(image, 4, 4);
    if (bytes < kMinBytes || bytes % 2 != 0)
      throw Error(ErrorKind::input,
                  "webp: invalid file size in the RIFF header: " + std::to_string(bytes) + " bytes");
    return ends_at(image, bytes);
  }
};

}  // namespace

std::unique_ptr<EndFinder> find_webp_end() {
  return std::make_unique<WebpEnd>();
}

bool is_webp(Bytes beginning) {
  return matches_at(beginning, 0, "RIFF"sv) && matches_at(beginning, 8, "WEBP"sv);
}

// Only the first frame of an animation is decoded, but the whole file must be read.
FileClaim webp_claim(Bytes beginning) {
  const WebpSize size = webp_size(beginning);
  return {.width = size.width, .height = size.height, .other_bytes = little_endian(beginning, 4, 4)};
}

void append_riff_number(std::vector<std::byte>& out, std::size_t value, int count) {
  for (int i = 0; i < count; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::vector<std::byte> webp_mark(const Mark& mark) {
  std::vector<std::byte> chunk;
  const std::string text = mark_text(mark);
  if (text.empty()) return chunk;
  append_text(chunk, kMarkChunk);
  append_riff_number(chunk, text.size(), 4);
  append_text(chunk, text);
  if (text.size() % 2 != 0) chunk.push_back(std::byte{0});
  return chunk;
}

// Searches the chunks before the image.
Mark find_webp_mark(Bytes beginning) {
  if (!is_webp(beginning) || !matches_at(beginning, 12, "VP8X"sv)) return Mark::none;
  for (std::size_t at = 12; at + 8 <= beginning.size();) {
    const std::size_t size = little_endian(beginning, at + 4, 4);
    for (const std::string_view picture : {"VP8 "sv, "VP8L"sv, "ALPH"sv, "ANMF"sv})
      if (matches_at(beginning, at, picture)) return Mark::none;
    if (matches_at(beginning, at, kMarkChunk)) {
      const Mark mark = mark_of(bytes_at(beginning, at + 8, size));
      if (mark != Mark::none) return mark;
    }
    at += 8 + size + (size & 1);
  }
  return Mark::none;
}

std::vector<std::string> webp_libraries() {
  return {library_version("libwebp", [] {
    const int version = late_webp::WebPGetDecoderVersion();
    return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xFF) + "." +
           std::to_string(version & 0xFF);
  })};
}

}  // namespace imgpipe

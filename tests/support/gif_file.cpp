#include "tests/support/gif_file.h"

#include <algorithm>
#include <map>
#include <utility>

namespace imgpipe::test {
using Bytes = std::vector<std::byte>;

void put(Bytes& file, std::initializer_list<int> values) {
  for (const int value : values) file.push_back(static_cast<std::byte>(value));
}

namespace {

void put16(Bytes& file, int value) {
  put(file, {value & 255, value >> 8});
}

void put_table(Bytes& file, int bits) {
  for (int i = 0; i < 1 << bits; ++i) put(file, {color(i, 0), color(i, 1), color(i, 2)});
}

// The encoder of the GIF89a specification, appendix F.
CodeSink lzw(const Indices& pixels, const LzwChoice& choice) {
  CodeSink sink;
  const int clear = 1 << choice.bits;
  int width = choice.bits + 1;
  int next = clear + 2;
  std::map<std::pair<int, int>, int> codes;
  if (choice.leading_clear) sink.code(clear, width);
  int prefix = -1;
  for (const int pixel : pixels) {
    const auto known = prefix < 0 ? codes.end() : codes.find({prefix, pixel});
    if (prefix < 0 || known != codes.end()) {
      prefix = prefix < 0 ? pixel : known->second;
      continue;
    }
    sink.code(prefix, width);
    if (next < 4096) {
      codes[{prefix, pixel}] = next;
      // The decoder's table lags by one entry.
      if (next == 1 << width && width < 12) ++width;
      ++next;
    } else if (choice.clear_when_full) {
      sink.code(clear, width);
      codes.clear();
      width = choice.bits + 1;
      next = clear + 2;
    }
    prefix = pixel;
  }
  if (prefix >= 0) sink.code(prefix, width);
  // The decoder makes its last entry with the previous code, which may increase the width of the end code.
  if (next == 1 << width && width < 12) ++width;
  if (choice.end_code) sink.code(clear + 1, width);
  return sink;
}

}  // namespace

void CodeSink::code(int value, int width) {
  bits_ |= static_cast<unsigned>(value) << count_;
  for (count_ += width; count_ >= 8; count_ -= 8, bits_ >>= 8) bytes_.push_back(std::byte(bits_ & 255));
}

std::vector<std::byte> CodeSink::sub_blocks() {
  constexpr std::size_t block_bytes = 255;
  if (count_ > 0) bytes_.push_back(std::byte(bits_ & 255));
  count_ = 0;
  Bytes out;
  for (std::size_t at = 0; at < bytes_.size(); at += block_bytes) {
    const std::size_t count = std::min(block_bytes, bytes_.size() - at);
    out.push_back(static_cast<std::byte>(count));
    out.insert(out.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at),
               bytes_.begin() + static_cast<std::ptrdiff_t>(at + count));
  }
  out.push_back(std::byte{0});
  return out;
}

int color(int index, int channel) {
  return (index * 37 + channel * 85 + 11) & 255;
}

Bytes gif_head(const Gif& gif) {
  Bytes file;
  for (const char c : {'G', 'I', 'F', '8', '9', 'a'}) file.push_back(static_cast<std::byte>(c));
  put16(file, gif.width);
  put16(file, gif.height);
  put(file, {gif.local ? 0 : 0x80 | (gif.bits - 1), gif.background, 0});
  if (!gif.local) put_table(file, gif.bits);
  if (gif.transparent >= 0) put(file, {0x21, 0xF9, 4, 1, 0, 0, gif.transparent, 0});
  put(file, {0x2C});
  put16(file, gif.x);
  put16(file, gif.y);
  put16(file, gif.frame_width < 0 ? gif.width : gif.frame_width);
  put16(file, gif.frame_height < 0 ? gif.height : gif.frame_height);
  put(file, {(gif.local ? 0x80 | (gif.bits - 1) : 0) | (gif.interlaced ? 0x40 : 0)});
  if (gif.local) put_table(file, gif.bits);
  return file;
}

Bytes with_data(Bytes file, int minimum_bits, const Bytes& sub_blocks) {
  put(file, {minimum_bits});
  file.insert(file.end(), sub_blocks.begin(), sub_blocks.end());
  return file;
}

Bytes make_gif(const Gif& gif, const Indices& pixels, const LzwChoice& choice) {
  Bytes file = with_data(gif_head(gif), choice.bits, lzw(pixels, choice).sub_blocks());
  put(file, {0x3B});
  return file;
}

}  // namespace imgpipe::test

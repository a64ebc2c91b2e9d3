// Writes images of any shape as PNG at every level, by rows or by strips in reverse order; reading returns
// the same pixels. The first bytes select the shape, the level and the pattern, the others are its samples.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace imgpipe;

constexpr std::size_t kHead = 8;
constexpr std::int64_t kMaxPixels = 1 << 14;

void demand(bool condition) {
  if (!condition) __builtin_trap();
}

// `view`: a HostView or a ConstHostView.
auto row_of(const auto& view, std::int64_t y) {
  return std::span(view.row(y), static_cast<std::size_t>(view.shape().row_bytes()));
}

// Runs of equal bytes, slopes and noise, so that every filter and every kind of code is the best somewhere.
Image image_of(const Shape& shape, std::span<const std::uint8_t> bytes, unsigned pattern) {
  Image image(shape);
  std::mt19937 random(pattern);
  const HostView view = image.untyped_view();
  const std::size_t run = 1 + pattern % 16;
  std::size_t at = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::byte& byte : row_of(view, y)) {
      unsigned value = bytes[at / run % bytes.size()];
      if ((pattern & 16) != 0) value += static_cast<unsigned>(at);
      if ((pattern & 32) != 0) value += 3 * static_cast<unsigned>(y);
      if ((pattern & 64) != 0) value += static_cast<unsigned>(random() % 4);
      if ((pattern & 128) != 0 && y % 3 == 0) value = 0;
      byte = static_cast<std::byte>(value);
      ++at;
    }
  }
  return image;
}

void write(Writer& writer, const Image& image, bool by_strips) {
  const ConstHostView all = image.untyped_view();
  const std::int64_t strip = writer.strip_rows();
  if (by_strips && strip > 0) {
    for (std::int64_t first = (all.height - 1) / strip * strip; first >= 0; first -= strip)
      writer.write_strip(first, all.rows(first, std::min(strip, all.height - first)));
    return;
  }
  for (std::int64_t first = 0; first < all.height; first += 5)
    writer.write_rows(all.rows(first, std::min<std::int64_t>(5, all.height - first)));
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_png_writer) {
  if (size <= kHead) return 0;
  const std::int64_t width = 1 + data[0] + 256 * (data[1] % 16);
  const std::int64_t height = std::min<std::int64_t>(1 + data[2] + 256 * (data[3] % 16), kMaxPixels / width);
  const Shape shape{width, height, 1 + data[4] % 4, data[4] / 4 % 2 == 0 ? Sample::u8 : Sample::u16};
  const Image image = image_of(shape, {data + kHead, size - kHead}, data[5]);
  const auto writer = make_writer(Format::png, shape, {.png_level = data[6] % 10});
  write(*writer, image, data[7] % 2 == 0);
  const std::vector<std::byte> file = writer->finish().joined();
  const auto reader = open_reader(file, {.max_pixels = kMaxPixels, .max_bits = 16});
  demand(reader->header().shape == shape);
  Image pixels(shape);
  reader->read_rows(pixels.untyped_view());
  for (std::int64_t y = 0; y < height; ++y)
    demand(std::ranges::equal(row_of(image.untyped_view(), y), row_of(pixels.untyped_view(), y)));
  return 0;
}

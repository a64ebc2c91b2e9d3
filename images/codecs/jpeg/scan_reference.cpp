#include "images/codecs/jpeg/scan_reference.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "images/codecs/jpeg/forward_scan.h"

namespace imgpipe {
namespace {

class StuffedBits {
 public:
  void put(std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) put_bit(value >> i & 1);
  }
  // Pads the last byte with ones (T.81, F.1.2.3).
  std::vector<std::byte> finish() {
    while (count_ != 0) put_bit(1);
    return std::move(bytes_);
  }

 private:
  void put_bit(std::uint32_t bit) {
    current_ = current_ << 1 | bit;
    if (++count_ < 8) return;
    bytes_.push_back(static_cast<std::byte>(current_));
    if (current_ == 0xFF) bytes_.push_back(std::byte{0});
    current_ = 0;
    count_ = 0;
  }

  std::vector<std::byte> bytes_;
  std::uint32_t current_ = 0;
  int count_ = 0;
};

// The samples of a plane; its last column and row repeat beyond the image.
class Samples {
 public:
  Samples(ConstHostPlane pixels, bool subsampled_chroma)
      : pixels_(pixels), halved_colors_(subsampled_chroma) {}

  [[nodiscard]] int at(int component, std::int64_t x, std::int64_t y) const {
    if (component == 0 || !halved_colors_) return full(component, x, y);
    y = std::min(y, (pixels_.height + 1) / 2 - 1);  // repeats the smaller plane's last row, not the image's
    const int sum = full(component, 2 * x, 2 * y) + full(component, 2 * x + 1, 2 * y) +
                    full(component, 2 * x, 2 * y + 1) + full(component, 2 * x + 1, 2 * y + 1);
    return halved_sample(sum, x);
  }

 private:
  [[nodiscard]] int full(int component, std::int64_t x, std::int64_t y) const {
    const Sample8* pixel =
        pixels_.row(std::min(y, pixels_.height - 1)) + std::min(x, pixels_.width - 1) * pixels_.channels;
    if (pixels_.channels == 1) return pixel[0];
    if (component == 0) return luma_sample(pixel[0], pixel[1], pixel[2]);
    return component == 1 ? blue_difference(pixel[0], pixel[1], pixel[2])
                          : red_difference(pixel[0], pixel[1], pixel[2]);
  }

  ConstHostPlane pixels_;
  bool halved_colors_;
};

// Returns the coefficients, times 8, in row order.
std::array<std::int32_t, kBlockSamples> transformed(const Samples& samples, const BlockPosition& position) {
  std::array<std::int32_t, kBlockSamples> block{};
  std::int32_t line[kBlockSide];
  for (int y = 0; y < kBlockSide; ++y) {
    for (int x = 0; x < kBlockSide; ++x) {
      line[x] = samples.at(position.component, std::int64_t{position.x} * kBlockSide + x,
                           std::int64_t{position.y} * kBlockSide + y) -
                kSampleCenter;
    }
    forward_dct_pass<true>(line);
    std::copy_n(line, kBlockSide, block.begin() + std::ptrdiff_t{y} * kBlockSide);
  }
  for (std::size_t x = 0; x < kBlockSide; ++x) {
    for (std::size_t y = 0; y < kBlockSide; ++y) line[y] = block[y * kBlockSide + x];
    forward_dct_pass<false>(line);
    for (std::size_t y = 0; y < kBlockSide; ++y) block[y * kBlockSide + x] = line[y];
  }
  return block;
}

}  // namespace

std::vector<std::byte> encode_scan_reference(ConstHostPlane pixels, int quality, bool subsampled_chroma) {
  const ForwardScan scan = forward_scan(pixels.width, pixels.height, pixels.channels, subsampled_chroma);
  const std::array<QuantizerSteps, 2> steps{quantizer_steps(quality, false), quantizer_steps(quality, true)};
  const Samples samples(pixels, subsampled_chroma);
  StuffedBits bits;
  std::array<std::int32_t, 3> dc{};  // the last one of each component
  for (std::int32_t mcu = 0; mcu < scan.mcus; ++mcu) {
    for (std::int32_t block = 0; block < scan.blocks_in_mcu; ++block) {
      const BlockPosition position = block_position(scan, mcu, block);
      const auto component = static_cast<std::size_t>(position.component);
      const bool chroma = component > 0;
      const auto coefficients = transformed(samples, position);
      std::array<std::int32_t, kBlockSamples> values{};
      std::uint64_t positions = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int32_t x = coefficients[kZigzag[i]];
        const std::uint32_t magnitude = quantized_magnitude(x, quantizer_step(steps[chroma ? 1 : 0][i]));
        values[i] = coded_value(x, magnitude);
        if (i > 0 && magnitude != 0 && !position.dummy) positions |= zigzag_index_bit(static_cast<int>(i));
      }
      const std::int32_t before = std::exchange(dc[component], value_of_coded(values[0]));
      code_block(
          dc[component] - before, positions, [&](int i) { return values[static_cast<std::size_t>(i)]; },
          encoding_codes(chroma).data(), bits);
    }
  }
  return bits.finish();
}

}  // namespace imgpipe

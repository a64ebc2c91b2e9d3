#include "images/codecs/jpeg/mcu_reference.h"

#include <algorithm>

namespace imgpipe {
namespace {

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

CodedMcu McuReference::mcu(std::int32_t number) const {
  const Samples samples(pixels_, subsampled_chroma_);
  CodedMcu mcu;
  for (std::int32_t block = 0; block < scan_.blocks_in_mcu; ++block) {
    const BlockPosition position = block_position(scan_, number, block);
    const auto coefficients = transformed(samples, position);
    auto& values = mcu.values[static_cast<std::size_t>(block)];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int32_t x = coefficients[kZigzag[i]];
      const QuantizerStep step = quantizer_step(steps_[position.component > 0 ? 1 : 0][i]);
      const std::uint32_t magnitude = quantized_magnitude(x, step);
      values[i] = coded_value(x, magnitude);
      if (i > 0 && magnitude != 0 && !position.dummy)
        mcu.positions[static_cast<std::size_t>(block)] |= zigzag_index_bit(static_cast<int>(i));
    }
  }
  return mcu;
}

}  // namespace imgpipe

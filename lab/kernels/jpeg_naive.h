// A first attempt at JPEG decoding, for one thread on any device: codes bit by bit, one block and one pixel
// at a time. Sequential variants run these functions in a loop, naive CUDA variants once per thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "images/host_device.h"

namespace imgpipe {

// A scan's parameters for these functions, without pointers, so that it can be copied to the device.
struct NaiveScan {
  std::int64_t width = 0, height = 0;
  std::int64_t mcus = 0, mcus_across = 0;
  std::int64_t restart_interval = 0;  // in MCUs; without restarts, the whole scan
  Sampling sampling = Sampling::grey;
  int components = 1, blocks_in_mcu = 1;
  std::uint8_t component_of_block[6] = {};
  struct Component {
    int across = 1, down = 1;            // blocks per MCU
    int first_block = 0;                 // index in the MCU
    std::int64_t width = 0, height = 0;  // samples that represent pixels
    std::int64_t stride = 0;             // of the component's plane, which covers whole MCUs
    std::int64_t plane = 0;              // offset of its first sample in the planes
    std::uint16_t steps[kBlockSamples] = {};
    HuffmanCodes dc, ac;
  } component[3];
  std::int64_t samples = 0;  // in all planes
  std::uint8_t zigzag[kBlockSamples] = {};

  [[nodiscard]] IMGPIPE_HOST_DEVICE std::int64_t blocks() const { return mcus * blocks_in_mcu; }
};
[[nodiscard]] NaiveScan naive_scan(const BaselineScan& scan);

// ---- codes to coefficients (T.81, F.2.2) -------------------------------------------------------------

class NaiveBits {
 public:
  IMGPIPE_HOST_DEVICE NaiveBits(const std::uint8_t* bytes, std::int64_t count, std::int64_t at = 0)
      : bytes_(bytes), at_(at), end_(8 * count) {}

  // Returns the next bit, or 0 past the end.
  IMGPIPE_HOST_DEVICE int next() {
    const int bit = at_ < end_ ? bytes_[at_ / 8] >> (7 - at_ % 8) & 1 : 0;
    ++at_;
    return bit;
  }
  // Returns the value that `size` bits represent (F.2.2.1: RECEIVE and EXTEND).
  IMGPIPE_HOST_DEVICE int number(int size) {
    int value = 0;
    for (int i = 0; i < size; ++i) value = 2 * value + next();
    return size > 0 && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
  }
  // Returns the symbol of the next code (F.2.2.3: DECODE), or -1 if no code matches.
  IMGPIPE_HOST_DEVICE int symbol(const HuffmanCodes& codes) {
    int code = 0;
    int first = 0;
    int symbols = 0;
    for (int length = 1; length <= 16; ++length) {
      code = 2 * code + next();
      const int count = codes.counts[static_cast<std::size_t>(length)];
      if (code - first < count) return codes.symbols[static_cast<std::size_t>(symbols + code - first) & 255];
      first = 2 * (first + count);
      symbols += count;
    }
    return -1;
  }
  // Whether at most the padding of the last byte is unread.
  [[nodiscard]] IMGPIPE_HOST_DEVICE bool ended() const { return at_ <= end_ && end_ - at_ < 8; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE bool beyond() const { return at_ > end_; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::int64_t at() const { return at_; }

 private:
  const std::uint8_t* bytes_;
  std::int64_t at_, end_;
};

// Decodes a block into row order; false if invalid. `dc`: the component's last DC value, which it updates.
IMGPIPE_HOST_DEVICE inline bool decode_block_naively(const NaiveScan& scan, int c, NaiveBits& bits,
                                                     std::int32_t& dc, std::int16_t* block) {
  const NaiveScan::Component& component = scan.component[c];
  for (int i = 0; i < kBlockSamples; ++i) block[i] = 0;
  const int size = bits.symbol(component.dc);
  if (size < 0 || size > 15) return false;
  dc += bits.number(size);
  block[0] = wrapped_16(dc);
  for (int position = 1; position < kBlockSamples; ++position) {
    const int symbol = bits.symbol(component.ac);
    if (symbol < 0) return false;
    const int value_bits = symbol & 15;
    if (value_bits == 0 && symbol >> 4 != 15) return true;  // end of block
    position += symbol >> 4;
    if (position >= kBlockSamples) return false;
    if (value_bits > 0) block[scan.zigzag[position]] = static_cast<std::int16_t>(bits.number(value_bits));
  }
  return !bits.beyond();
}

// Decodes segment `index` of the staged bytes; false if it is invalid.
IMGPIPE_HOST_DEVICE inline bool decode_segment_naively(const NaiveScan& scan, const std::uint8_t* staged,
                                                       const ScanSegment& segment, std::int64_t index,
                                                       std::int16_t* coefficients) {
  const std::int64_t first = index * scan.restart_interval;
  const std::int64_t rest = scan.mcus - first;
  const std::int64_t mcus = rest < scan.restart_interval ? rest : scan.restart_interval;
  NaiveBits bits(staged + segment.first_byte, segment.bytes);
  std::int32_t dc[3] = {0, 0, 0};
  std::int16_t* block = coefficients + first * scan.blocks_in_mcu * kBlockSamples;
  for (std::int64_t mcu = 0; mcu < mcus; ++mcu) {
    for (int i = 0; i < scan.blocks_in_mcu; ++i, block += kBlockSamples) {
      const int c = scan.component_of_block[i];
      if (!decode_block_naively(scan, c, bits, dc[c], block)) return false;
    }
  }
  return bits.ended();
}

// ---- coefficients to samples, samples to pixels ------------------------------------------------------

IMGPIPE_HOST_DEVICE inline void reconstruct_block_naively(const NaiveScan& scan,
                                                          const std::int16_t* coefficients,
                                                          std::int64_t number, std::uint8_t* planes) {
  const std::int64_t mcu = number / scan.blocks_in_mcu;
  const auto in_mcu = static_cast<int>(number % scan.blocks_in_mcu);
  const NaiveScan::Component& component = scan.component[scan.component_of_block[in_mcu]];
  const int at = in_mcu - component.first_block;
  const std::int64_t x = (mcu % scan.mcus_across * component.across + at % component.across) * kBlockSide;
  const std::int64_t y = (mcu / scan.mcus_across * component.down + at / component.across) * kBlockSide;
  const std::int16_t* block = coefficients + number * kBlockSamples;
  std::array<std::int16_t, kBlockSamples> values{};
  bool flat = true;
  for (std::size_t i = 0; i < kBlockSamples; ++i) {
    const std::size_t position = scan.zigzag[i];
    values[position] = dequantised(block[position], component.steps[i]);
    if (position >= kBlockSide && block[position] != 0) flat = false;
  }
  const std::array<std::uint8_t, kBlockSamples> samples = inverse_dct(values, flat);
  std::uint8_t* out = planes + component.plane + y * component.stride + x;
  for (std::size_t i = 0; i < kBlockSamples; ++i)
    out[static_cast<std::int64_t>(i / kBlockSide) * component.stride +
        static_cast<std::int64_t>(i % kBlockSide)] = samples[i];
}

// Returns the sample of plane `c` for pixel (x, y), upsampled where necessary.
IMGPIPE_HOST_DEVICE inline int sample_at_naively(const NaiveScan& scan, const std::uint8_t* planes, int c,
                                                 std::int64_t x, std::int64_t y) {
  const NaiveScan::Component& component = scan.component[c];
  const auto at = [&](std::int64_t column, std::int64_t row) -> int {
    column = column < 0 ? 0 : column >= component.width ? component.width - 1 : column;
    row = row < 0 ? 0 : row >= component.height ? component.height - 1 : row;
    return planes[component.plane + row * component.stride + column];
  };
  if (c == 0 || scan.sampling == Sampling::s444) return at(x, y);
  const std::int64_t column = x / 2;
  const std::int64_t row = y / 2;
  const std::int64_t far = y % 2 == 0 ? row - 1 : row + 1;
  const bool left = x % 2 == 0;
  if (scan.sampling == Sampling::s440)
    return y % 2 == 0 ? upsampled_upper(at(x, far), at(x, row)) : upsampled_lower(at(x, row), at(x, far));
  const bool halved_rows = scan.sampling == Sampling::s420;
  if (component.width <= kMaxRepeatedWidth) return at(column, halved_rows ? row : y);
  if (!halved_rows)
    return left ? upsampled_left(at(column - 1, y), at(column, y))
                : upsampled_right(at(column, y), at(column + 1, y));
  const auto sum = [&](std::int64_t where) { return column_sum(at(where, row), at(where, far)); };
  return left ? upsampled_left_of_sums(sum(column - 1), sum(column))
              : upsampled_right_of_sums(sum(column), sum(column + 1));
}

// Computes pixel (x, y), of 1 or 3 samples.
IMGPIPE_HOST_DEVICE inline void make_pixel_naively(const NaiveScan& scan, const std::uint8_t* planes,
                                                   std::int64_t x, std::int64_t y, std::uint8_t* pixel) {
  const int luma = sample_at_naively(scan, planes, 0, x, y);
  if (scan.components == 1) {
    *pixel = static_cast<std::uint8_t>(luma);
    return;
  }
  const int cb = sample_at_naively(scan, planes, 1, x, y);
  const int cr = sample_at_naively(scan, planes, 2, x, y);
  pixel[0] = red_of(luma, cr);
  pixel[1] = green_of(luma, cb, cr);
  pixel[2] = blue_of(luma, cb);
}

}  // namespace imgpipe

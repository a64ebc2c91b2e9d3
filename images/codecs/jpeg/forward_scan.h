// Which block of a picture stands where in the scan that libjpeg-turbo writes of it, where its samples come
// from, and how a block becomes bits. Grey: one plane; else Y, Cb, Cr, interleaved.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/forward_arithmetic.h"
#include "images/codecs/jpeg/standard_tables.h"
#include "images/host_device.h"

namespace imgpipe {

// Sides are at most 65,500 (what libjpeg takes), so MCUs and blocks fit 32 bits.
struct ForwardScan {
  std::int32_t width = 0, height = 0;  // of the picture
  std::int32_t mcus_across = 0, mcus = 0;
  std::int32_t blocks_across = 0, blocks_down = 0;  // of the luma plane, that hold pixels
  std::int32_t blocks_in_mcu = 1;                   // 1: grey, 3: 4:4:4, 6: 4:2:0
};

IMGPIPE_HOST_DEVICE constexpr std::int32_t eighths(std::int32_t samples) {
  return (samples + kBlockSide - 1) / kBlockSide;
}

IMGPIPE_HOST_DEVICE constexpr ForwardScan forward_scan(std::int64_t width, std::int64_t height, int channels,
                                                       bool halved_colors) {
  ForwardScan scan;
  scan.width = static_cast<std::int32_t>(width);
  scan.height = static_cast<std::int32_t>(height);
  scan.blocks_across = eighths(scan.width);
  scan.blocks_down = eighths(scan.height);
  const bool halved = channels == 3 && halved_colors;
  scan.blocks_in_mcu = channels == 1 ? 1 : halved ? 6 : 3;
  scan.mcus_across = halved ? (scan.blocks_across + 1) / 2 : scan.blocks_across;
  scan.mcus = scan.mcus_across * (halved ? (scan.blocks_down + 1) / 2 : scan.blocks_down);
  return scan;
}

struct BlockPlace {
  std::int32_t x = 0, y = 0;   // in its plane, counted in blocks
  std::int32_t component = 0;  // 0: luma or grey, 1: Cb, 2: Cr
  // Beyond the plane's last block: all that it holds is the DC coefficient of the block before it in the scan
  // (jccoefct), which is the one at this place.
  bool dummy = false;
};

IMGPIPE_HOST_DEVICE constexpr BlockPlace place_of_block(const ForwardScan& scan, std::int32_t mcu,
                                                        std::int32_t block) {
  const std::int32_t row = mcu / scan.mcus_across;
  const std::int32_t column = mcu - row * scan.mcus_across;
  if (scan.blocks_in_mcu != 6) return {column, row, block, false};
  if (block >= 4) return {column, row, block - 3, false};
  BlockPlace place{2 * column + (block & 1), 2 * row + (block >> 1), 0, false};
  if (place.y >= scan.blocks_down) place = {2 * column + 1, 2 * row, 0, true};
  if (place.x >= scan.blocks_across) place = {2 * column, place.y, 0, true};
  return place;
}

// How far before it in the scan the block of the same plane stands of which DC coefficients are the
// difference; the blocks of the first MCU reach before the scan's start.
IMGPIPE_HOST_DEVICE constexpr std::int32_t blocks_back(const ForwardScan& scan, std::int32_t block) {
  if (scan.blocks_in_mcu != 6 || block >= 4) return scan.blocks_in_mcu;
  return block == 0 ? 3 : 1;
}

// ---- a block's bits (T.81, F.1.2)
// --------------------------------------------------------------------------

IMGPIPE_HOST_DEVICE inline int bits_of(std::uint32_t magnitude) {
#ifdef __CUDA_ARCH__
  return 32 - __clz(static_cast<int>(magnitude));
#else
  return static_cast<int>(std::bit_width(magnitude));
#endif
}

IMGPIPE_HOST_DEVICE inline int first_place(std::uint64_t places) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(places)) - 1;
#else
  return std::countr_zero(places);
#endif
}

// The bits behind a code: a value below zero is one less (F.1.2.1).
IMGPIPE_HOST_DEVICE inline std::uint32_t value_bits(std::uint32_t magnitude, bool below_zero, int size) {
  return below_zero ? magnitude ^ ((1U << size) - 1) : magnitude;
}

// Gives `bits.put(value, count)` all the codes of a block: the difference of its DC coefficient, then the AC
// coefficients at `places` (bit 1 to 63, in zigzag order), of which `value_at(place)` gives the
// SignedMagnitude.
template <class ValueAt, class Bits>
IMGPIPE_HOST_DEVICE inline void code_block(std::int32_t dc_difference, std::uint64_t places,
                                           const ValueAt& value_at, const CodeAndRoom* codes, Bits& bits) {
  const auto put = [&](std::size_t code, std::uint32_t value) {
    const CodeAndRoom entry = codes[code];
    bits.put(entry >> kCountBits | value, static_cast<int>(entry & kCountMask));
  };
  const auto magnitude = static_cast<std::uint32_t>(dc_difference < 0 ? -dc_difference : dc_difference);
  const int dc_size = bits_of(magnitude);
  put(kDcCodes + static_cast<std::size_t>(dc_size), value_bits(magnitude, dc_difference < 0, dc_size));
  int next = 1;
  for (; places != 0; places &= places - 1) {
    const int place = first_place(places);
    int run = place - next;
    next = place + 1;
    for (; run > 15; run -= 16) put(kRunOf16, 0);
    const std::uint32_t value = value_at(place);
    const int size = bits_of(value & (kBelowZero - 1));
    put(static_cast<std::size_t>(run * 16 + size),
        value_bits(value & (kBelowZero - 1), (value & kBelowZero) != 0, size));
  }
  if (next < kBlockSamples) put(0, 0);
}

}  // namespace imgpipe

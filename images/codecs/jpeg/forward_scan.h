// The order of blocks in the scan that libjpeg-turbo writes, where their samples come from, and the bits of a
// block. Grey images have one plane; others have Y, Cb and Cr, interleaved.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/forward_arithmetic.h"
#include "images/codecs/jpeg/standard_tables.h"
#include "images/host_device.h"

namespace imgpipe {

// Sides are at most 65,500 (libjpeg's limit), so numbers of MCUs and blocks fit 32 bits.
struct ForwardScan {
  std::int32_t width = 0, height = 0;  // the image's, in pixels
  std::int32_t mcus_across = 0, mcus = 0;
  std::int32_t blocks_across = 0, blocks_down = 0;  // luma blocks that hold pixels
  std::int32_t blocks_in_mcu = 1;                   // 1: grey, 3: 4:4:4, 6: 4:2:0
};

IMGPIPE_HOST_DEVICE constexpr std::int32_t eighths(std::int32_t samples) {
  return (samples + kBlockSide - 1) / kBlockSide;
}

IMGPIPE_HOST_DEVICE constexpr ForwardScan forward_scan(std::int64_t width, std::int64_t height, int channels,
                                                       bool subsampled_chroma) {
  ForwardScan scan;
  scan.width = static_cast<std::int32_t>(width);
  scan.height = static_cast<std::int32_t>(height);
  scan.blocks_across = eighths(scan.width);
  scan.blocks_down = eighths(scan.height);
  const bool halved = channels == 3 && subsampled_chroma;
  scan.blocks_in_mcu = channels == 1 ? 1 : halved ? 6 : 3;
  scan.mcus_across = halved ? (scan.blocks_across + 1) / 2 : scan.blocks_across;
  scan.mcus = scan.mcus_across * (halved ? (scan.blocks_down + 1) / 2 : scan.blocks_down);
  return scan;
}

// Returns the component of a block of an MCU, 0: luma or grey, 1: Cb, 2: Cr.
IMGPIPE_HOST_DEVICE constexpr std::int32_t component_of(std::int32_t blocks_in_mcu, std::int32_t block) {
  return blocks_in_mcu == 6 ? (block < 4 ? 0 : block - 3) : block;
}

struct BlockPosition {
  std::int32_t x = 0, y = 0;   // in its plane, in blocks
  std::int32_t component = 0;  // 0: luma or grey, 1: Cb, 2: Cr
  // The block is past the plane's last column or row. x and y are those of the scan's previous block, whose
  // DC coefficient it repeats (jccoefct).
  bool dummy = false;
};

IMGPIPE_HOST_DEVICE constexpr BlockPosition block_position(const ForwardScan& scan, std::int32_t mcu,
                                                           std::int32_t block) {
  const std::int32_t row = mcu / scan.mcus_across;
  const std::int32_t column = mcu - row * scan.mcus_across;
  const std::int32_t component = component_of(scan.blocks_in_mcu, block);
  if (scan.blocks_in_mcu != 6 || component > 0) return {column, row, component, false};
  BlockPosition position{2 * column + (block & 1), 2 * row + (block >> 1), 0, false};
  if (position.y >= scan.blocks_down) position = {2 * column + 1, 2 * row, 0, true};
  if (position.x >= scan.blocks_across) position = {2 * column, position.y, 0, true};
  return position;
}

// Returns the distance in the scan, in blocks, to the previous block of the same plane, from which the DC
// difference is taken. In the first MCU, that block may be before the scan's start.
IMGPIPE_HOST_DEVICE constexpr std::int32_t blocks_back(const ForwardScan& scan, std::int32_t block) {
  if (scan.blocks_in_mcu != 6 || block >= 4) return scan.blocks_in_mcu;
  return block == 0 ? 3 : 1;
}

// ---- a block's bits (T.81, F.1.2) ----------------------------------------------------------------------

// Returns the size of a CodedValue (T.81, F.1.2.1) minus 1: the index of its highest bit that differs from
// its sign bit, or -1.
IMGPIPE_HOST_DEVICE inline int highest_bit(std::int32_t coded) {
#ifdef __CUDA_ARCH__
  int bit = 0;
  asm("bfind.s32 %0, %1;" : "=r"(bit) : "r"(coded));
  return bit;
#else
  return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(coded ^ (coded >> 31)))) - 1;
#endif
}

// Counts the zeros above the highest set bit; `positions` must not be 0.
IMGPIPE_HOST_DEVICE inline int leading_zeros(std::uint64_t positions) {
#ifdef __CUDA_ARCH__
  return __clzll(static_cast<long long>(positions));
#else
  return std::countl_zero(positions);
#endif
}

// The bit of code_block()'s `positions` for a zigzag index.
IMGPIPE_HOST_DEVICE constexpr std::uint64_t zigzag_index_bit(int position) {
  return std::uint64_t{1} << (kBlockSamples - 1 - position);
}

// Passes all codes of a block to `bits.put(value, count)`: the difference of its DC coefficient, then the AC
// coefficients at `positions` (zigzag_index_bit() of 1 to 63). `coded_at(position)` returns a coefficient's
// CodedValue.
template <class CodedAt, class Bits>
IMGPIPE_HOST_DEVICE inline void code_block(std::int32_t dc_difference, std::uint64_t positions,
                                           const CodedAt& coded_at, const PaddedCode* codes, Bits& bits) {
  const auto put = [&](int code, std::int32_t coded, int highest) {
    const PaddedCode entry = codes[code];
    const std::uint32_t value = static_cast<std::uint32_t>(coded) & ~(0xFFFFFFFEU << highest);
    bits.put(entry >> kCountBits | value, static_cast<int>(entry & kCountMask));
  };
  const auto put_code = [&](int code) {
    bits.put(codes[code] >> kCountBits, static_cast<int>(codes[code] & kCountMask));
  };
  if (dc_difference == 0) {
    put_code(kDcCodes);
  } else {
    const std::int32_t coded = dc_difference + (dc_difference >> 31);
    put(kDcCodes + highest_bit(coded) + 1, coded, highest_bit(coded));
  }
  int position = 0;  // zigzag index of the last coefficient coded
  positions <<= 1;
  while (positions != 0) {
    int run = leading_zeros(positions);
    position += run + 1;
    positions = positions << run << 1;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (; run > 15; run -= 16) put_code(kZrlCode);
    const std::int32_t coded = coded_at(position);
    const int highest = highest_bit(coded);
    put(run * 16 + highest + 1, coded, highest);
  }
  if (position < kBlockSamples - 1) put_code(kEobCode);
}

}  // namespace imgpipe

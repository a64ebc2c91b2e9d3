// The scans that the built-in decoder reads: sequential Huffman codes (ITU-T T.81, F.2), 8 bits, grey or
// YCbCr.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "images/plane.h"

namespace imgpipe {

inline constexpr int kBlockSide = 8;
inline constexpr int kBlockSamples = 64;

// Maps a zigzag index to an index in the block, in row order (T.81, figure A.6).
inline constexpr std::array<std::uint8_t, kBlockSamples> kZigzag{
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// A DHT segment's contents (T.81, B.2.4.2): the number of codes by length, and their symbols in code order.
struct HuffmanCodes {
  std::array<std::uint8_t, 17> counts{};  // by length in bits; [0] is unused
  std::array<std::uint8_t, 256> symbols{};
};

struct ScanComponent {
  int across = 1, down = 1;  // blocks in an MCU
  int side = kBlockSide;     // of a block's samples after the inverse DCT: less at a smaller scale
  std::int64_t width = 0,
               height = 0;  // samples: the image's size divided by the sampling, rounded up
  std::array<std::uint16_t, kBlockSamples> steps{};  // quantisation table, in zigzag order
  int dc_codes = 0, ac_codes = 0;                    // indices into BaselineScan::dc_codes and ac_codes
};

// Sampling of the colour planes relative to the luma plane.
enum class Sampling { grey, s444, s422, s420, s440 };

struct BaselineScan {
  std::int64_t width = 0, height = 0;  // pixels, at `scale`
  int scale = 1;                       // DecodeOptions::scale
  Sampling sampling = Sampling::grey;
  int components = 1;  // 1: grey; 3: Y, Cb, Cr
  std::array<ScanComponent, 3> component{};
  std::array<HuffmanCodes, 4> dc_codes{}, ac_codes{};
  std::int64_t restart_interval = 0;  // MCUs between restart markers; 0: no markers

  // An MCU is the smallest area in which all planes have whole blocks; for grey, it is one block.
  int mcu_width = kBlockSide, mcu_height = kBlockSide;  // pixels
  std::int64_t mcus_across = 0, mcu_rows = 0;
  int blocks_in_mcu = 1;
  std::array<std::uint8_t, 6> component_of_block{};  // by block of an MCU

  // From the first byte of entropy-coded data to the end of the file.
  std::span<const std::byte> data;

  [[nodiscard]] std::int64_t mcus() const { return mcus_across * mcu_rows; }
  // The sampling of the planes after the inverse DCT: with a smaller scale, the colour planes of 4:2:0 have
  // larger blocks and as many samples as luma.
  [[nodiscard]] Sampling upsampling() const {
    return scale > 1 && sampling == Sampling::s420 ? Sampling::s444 : sampling;
  }
  // Colour planes with half the rows are interpolated with the sample rows above and below.
  [[nodiscard]] std::int64_t interpolation_rows() const {
    return upsampling() == Sampling::s420 || upsampling() == Sampling::s440 ? 1 : 0;
  }
};

}  // namespace imgpipe

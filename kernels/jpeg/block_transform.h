// Dequantisation and the inverse DCT of blocks (images/codecs/jpeg/jpeg_arithmetic.h). For host and device.
//
// The 32 lanes of a warp transform eight blocks together: lane / 4 is the block, `part` = lane % 4 the lane's
// share of it.
//
//   columns   a lane holds columns 2 part and 2 part + 1: 8 words, one per row, the left column in the lower
//             half
//   rows      a lane holds rows part and part + 4: per row 4 words of two values, then 2 of four samples
//   vectors   the lanes of an even block and of the odd block after it exchange rows: a lane holds one row of
//             both blocks, 16 samples (VectorPosition)
#pragma once

#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/host_device.h"
#include "kernels/jpeg/packed_words.h"

namespace imgpipe {

inline constexpr unsigned kBlockLanes = 4;        // threads per block
inline constexpr unsigned kTransformBlocks = 8;   // per warp at a time
inline constexpr unsigned kTransformWords = 256;  // of 4 bytes; used between the passes

// ---- passes ----------------------------------------------------------------------------------------------

// Returns the 16-bit value in the upper half of a word; sums formed there wrap as required.
IMGPIPE_HOST_DEVICE constexpr std::int32_t lowered(std::uint32_t upper) {
  return static_cast<std::int32_t>(upper) >> 16;
}
// The same, with dct::kConstantBits fractional bits.
IMGPIPE_HOST_DEVICE constexpr std::int32_t upper_half_fixed_point(std::uint32_t upper) {
  return static_cast<std::int32_t>(upper) >> (16 - dct::kConstantBits);
}

// The inputs of a pass over eight values; the sums are wrapped.
struct PassValues {
  std::int32_t sum04 = 0, difference04 = 0;  // with dct::kConstantBits fractional bits
  std::int32_t x1 = 0, x2 = 0, x3 = 0, x5 = 0, x6 = 0, x7 = 0;
  std::int32_t sum73 = 0, sum51 = 0;
};

// inverse_dct_pass() of jpeg_arithmetic.h without saturation.
template <int kShift>
IMGPIPE_HOST_DEVICE constexpr void transform_eight(const PassValues& v, std::int32_t (&out)[kBlockSide]) {
  using namespace dct;
  constexpr std::int32_t kRound = 1 << (kShift - 1);
  const std::int32_t t2 = v.x2 * k0_541196100 + v.x6 * (k0_541196100 - k1_847759065);
  const std::int32_t t3 = v.x2 * (k0_541196100 + k0_765366865) + v.x6 * k0_541196100;
  const std::int32_t s3 = v.sum73 * (k1_175875602 - k1_961570560) + v.sum51 * k1_175875602;
  const std::int32_t s4 = v.sum73 * k1_175875602 + v.sum51 * (k1_175875602 - k0_390180644);
  const std::int32_t t0 = v.sum04 + kRound;
  const std::int32_t t1 = v.difference04 + kRound;
  const std::int32_t even[4] = {t0 + t3, t1 + t2, t1 - t2, t0 - t3};
  const std::int32_t odd[4] = {
      v.x1 * (k1_501321110 - k0_899976223) - v.x7 * k0_899976223 + s4,
      v.x3 * (k3_072711026 - k2_562915447) - v.x5 * k2_562915447 + s3,
      v.x5 * (k2_053119869 - k2_562915447) - v.x3 * k2_562915447 + s4,
      v.x7 * (k0_298631336 - k0_899976223) - v.x1 * k0_899976223 + s3,
  };
  for (int i = 0; i < 4; ++i) {
    out[i] = (even[i] + odd[i]) >> kShift;
    out[7 - i] = (even[i] - odd[i]) >> kShift;
  }
}

IMGPIPE_HOST_DEVICE constexpr PassValues pass_values(const std::uint32_t (&upper)[kBlockSide]) {
  return {upper_half_fixed_point(upper[0] + upper[4]),
          upper_half_fixed_point(upper[0] - upper[4]),
          lowered(upper[1]),
          lowered(upper[2]),
          lowered(upper[3]),
          lowered(upper[5]),
          lowered(upper[6]),
          lowered(upper[7]),
          lowered(upper[7] + upper[3]),
          lowered(upper[5] + upper[1])};
}

// ---- columns ---------------------------------------------------------------------------------------------

// Quantiser steps of two rows of a lane's two columns; those of the left column are in the upper half.
struct alignas(16) RowPairSteps {
  std::uint32_t left0 = 0, right0 = 0, left1 = 0, right1 = 0;
};
// The steps of a component as [row / 2][part], so that adjacent lanes read adjacent memory.
struct ComponentSteps {
  RowPairSteps of[kBlockSide / 2][kBlockLanes];
};
// `steps`: the quantiser steps of a block, in row order.
IMGPIPE_HOST_DEVICE constexpr RowPairSteps row_pair_steps(const std::uint16_t* steps, unsigned pair,
                                                          unsigned part) {
  const unsigned first = 2 * pair * kBlockSide + 2 * part;
  const std::uint16_t* upper = steps + first;
  const std::uint16_t* lower = upper + kBlockSide;
  return {static_cast<std::uint32_t>(upper[0]) << 16, upper[1], static_cast<std::uint32_t>(lower[0]) << 16,
          lower[1]};
}

// Return a dequantised coefficient, wrapped to 16 bits, in the upper half of a word.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t dequantised_left(std::uint32_t pair, std::uint32_t step) {
  return pair * step;
}
IMGPIPE_HOST_DEVICE constexpr std::uint32_t dequantised_right(std::uint32_t pair, std::uint32_t step) {
  return (pair & 0xFFFF0000U) * step;
}

// Transforms two columns of which only the first kRows rows hold coefficients. `flat`: only the first row of
// the block holds coefficients. libjpeg-turbo lets that row times 4 wrap in such blocks, so the row is first
// wrapped to 14 bits, which prevents saturation.
template <unsigned kRows>
IMGPIPE_HOST_DEVICE inline void transform_columns(const std::uint32_t (&pairs)[kBlockSide],
                                                  const ComponentSteps& steps, unsigned part, bool flat,
                                                  std::uint32_t (&out)[kBlockSide]) {
  std::uint32_t left[kBlockSide] = {};
  std::uint32_t right[kBlockSide] = {};
  for (unsigned y = 0; y < kRows; y += 2) {
    const RowPairSteps two = steps.of[y / 2][part];
    left[y] = dequantised_left(pairs[y], two.left0);
    right[y] = dequantised_right(pairs[y], two.right0);
    left[y + 1] = dequantised_left(pairs[y + 1], two.left1);
    right[y + 1] = dequantised_right(pairs[y + 1], two.right1);
  }
  if (flat) {
    left[0] = static_cast<std::uint32_t>(static_cast<std::int32_t>(left[0] << dct::kColumnBits) >>
                                         dct::kColumnBits);
    right[0] = static_cast<std::uint32_t>(static_cast<std::int32_t>(right[0] << dct::kColumnBits) >>
                                          dct::kColumnBits);
  }
  std::int32_t a[kBlockSide] = {};
  std::int32_t b[kBlockSide] = {};
  transform_eight<dct::kColumnShift>(pass_values(left), a);
  transform_eight<dct::kColumnShift>(pass_values(right), b);
  for (unsigned y = 0; y < kBlockSide; ++y) out[y] = saturated_pair(a[y], b[y]);
}

// Transforms two columns of a flat block; returns the pair that all rows share.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t flat_columns(std::uint32_t pair, const RowPairSteps& steps) {
  const std::uint32_t left = dequantised_left(pair, steps.left0) << dct::kColumnBits;
  const std::uint32_t right = dequantised_right(pair, steps.right0) << dct::kColumnBits;
  return select_bytes(left, right, 0x7632);
}

// ---- between the passes ----------------------------------------------------------------------------------

// The word of a lane's columns in row y, and the first of four adjacent words of a row. Neither the 32 lanes
// that write a row nor the 8 lanes that read 16 bytes each at a time share a bank.
//
//   word of row y, block b, columns 2p and 2p + 1 = 32 y + ((4 b + p) xor (8 (y mod 4)))
inline constexpr unsigned kRowWords = 32;
IMGPIPE_HOST_DEVICE constexpr unsigned column_word(unsigned lane, unsigned y) {
  return kRowWords * y + (lane ^ (8 * (y % 4)));
}
IMGPIPE_HOST_DEVICE constexpr unsigned row_word(unsigned block, unsigned y) {
  return kRowWords * y + ((kBlockLanes * block) ^ (8 * (y % 4)));
}

// ---- rows ------------------------------------------------------------------------------------------------

struct EightSamples {
  std::uint32_t word[2] = {};
};

IMGPIPE_HOST_DEVICE constexpr std::int32_t extended(std::uint32_t lower) {
  return static_cast<std::int16_t>(lower & 0xFFFF);
}

// Transforms a row of four pairs, as the column pass wrote them.
IMGPIPE_HOST_DEVICE inline EightSamples transform_row(std::uint32_t w0, std::uint32_t w1, std::uint32_t w2,
                                                      std::uint32_t w3) {
  PassValues v;
  v.x1 = lowered(w0);
  v.x2 = extended(w1);
  v.x3 = lowered(w1);
  v.x5 = lowered(w2);
  v.x6 = extended(w3);
  v.x7 = lowered(w3);
  v.sum04 = upper_half_fixed_point((w0 + w2) << 16);
  v.difference04 = upper_half_fixed_point((w0 - w2) << 16);
  v.sum73 = extended(static_cast<std::uint32_t>(v.x7 + v.x3));
  v.sum51 = extended(static_cast<std::uint32_t>(v.x5 + v.x1));
  std::int32_t out[kBlockSide] = {};
  transform_eight<dct::kRowShift>(v, out);
  constexpr std::uint32_t kLevel = 0x80808080U;  // adds 128 to each byte
  return {{saturated_four(out[0], out[1], out[2], out[3]) ^ kLevel,
           saturated_four(out[4], out[5], out[6], out[7]) ^ kLevel}};
}

// ---- vectors ---------------------------------------------------------------------------------------------

// The 16 samples that a lane holds at the end: one row of a pair of adjacent blocks.
struct VectorPosition {
  unsigned pair = 0;  // of blocks, 0..3
  unsigned row = 0;
};
IMGPIPE_HOST_DEVICE constexpr VectorPosition vector_position(unsigned lane) {
  return {lane / (2 * kBlockLanes), lane % kBlockLanes + (lane & kBlockLanes)};
}
// The lane to exchange rows with, and whether this lane gives away its lower row.
IMGPIPE_HOST_DEVICE constexpr unsigned partner_lane(unsigned lane) {
  return lane ^ kBlockLanes;
}
IMGPIPE_HOST_DEVICE constexpr bool gives_lower_row(unsigned lane) {
  return (lane & kBlockLanes) == 0;
}

struct SampleVector {
  std::uint32_t word[4] = {};
};
// `upper` and `lower`: the lane's rows part and part + 4; `got`: the row received from the partner.
IMGPIPE_HOST_DEVICE constexpr SampleVector combine_rows(unsigned lane, const EightSamples& upper,
                                                        const EightSamples& lower, const EightSamples& got) {
  if (gives_lower_row(lane)) return {{upper.word[0], upper.word[1], got.word[0], got.word[1]}};
  return {{got.word[0], got.word[1], lower.word[0], lower.word[1]}};
}

}  // namespace imgpipe

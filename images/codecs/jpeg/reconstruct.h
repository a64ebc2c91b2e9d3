// Coefficients to samples and samples to pixels, bit-identical to libjpeg-turbo's x86 SIMD code:
// dequantisation, slow integer inverse DCT (jidctint), "fancy" upsampling (jdsample), YCbCr to RGB (jdcolor).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/coefficients.h"
#include "images/luma.h"

namespace imgpipe {

// The destination of one block of every MCU in a row.
struct BlockTarget {
  const std::uint16_t* steps = nullptr;  // the 64 quantisation steps, in zigzag order
  int component = 0;
  std::uint8_t* samples = nullptr;  // top left sample of the block in the row's first MCU
  std::int64_t stride = 0;          // bytes from one row of samples to the next
  std::int64_t mcu_step = 0;        // bytes from the block in one MCU to that in the next
  int side = kBlockSide;            // of the block's samples: 8, 4, 2 or 1
};

// Consecutive blocks of the scan within one MCU row.
struct BlockRun {
  std::int64_t first = 0;  // index in the MCU row: MCU * blocks in an MCU + block
  std::span<const CoefficientBlock> blocks;
  const Coefficient* coefficients = nullptr;  // the list that the blocks' `end`s refer to
  std::uint32_t begin = 0;                    // index of the first block's AC coefficients in the list
  std::array<std::int32_t, 3> dc_base{};      // by component; added to every block's dc
};

// Dequantises and transforms the blocks, and writes BlockTarget::side rows of as many samples for each, also
// at the image's edges. `targets`: by block of an MCU. As in libjpeg-turbo, only the lower 16 bits of `dc`
// are used.
void reconstruct_blocks(std::span<const BlockTarget> targets, const BlockRun& run);

// Upsampling may read 64 samples before and after a colour row; fill_edges() repeats the row's ends there.
inline constexpr std::int64_t kSampleMargin = 64;
void fill_edges(std::uint8_t* row, std::int64_t width);

// The sample rows for one row of pixels. If a colour plane has half the rows, `near` is the sample row that
// contains the pixels. `far` is the row above it for the upper of its two rows of pixels, and the row below
// it for the lower one; beyond the image, it is `near` again. Otherwise `far` is not read.
struct SampleRows {
  const std::uint8_t* y = nullptr;
  const std::uint8_t* cb_near = nullptr;
  const std::uint8_t* cb_far = nullptr;
  const std::uint8_t* cr_near = nullptr;
  const std::uint8_t* cr_far = nullptr;
  bool lower = false;
};

// Writes `width` pixels of 3 bytes. Colour rows need filled edges. Not for Sampling::grey, whose samples are
// the pixels. As in libjpeg-turbo, s422 and s420 repeat a colour plane at most 2 samples wide in both
// directions instead of interpolating it. s440 is interpolated vertically, as libjpeg-turbo does from 2.1 on.
void make_rgb_row(Sampling sampling, const SampleRows& rows, std::int64_t width, std::uint8_t* rgb);
// Writes the luma of these pixels instead, 1 byte each.
void make_grey_row(Luma luma, Sampling sampling, const SampleRows& rows, std::int64_t width,
                   std::uint8_t* grey);

}  // namespace imgpipe

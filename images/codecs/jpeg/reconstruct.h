// From coefficients to samples and from samples to pixels, equal to libjpeg-turbo's x86 SIMD code to the bit:
// dequantisation and the slow integer inverse DCT (jidctint), "fancy" upsampling (jdsample), YCbCr to RGB
// (jdcolor). In Highway.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/coefficients.h"

namespace imgpipe {

// Where the samples of one block of every MCU of a row go.
struct BlockTarget {
  const std::uint16_t* steps = nullptr;  // the quantiser's 64 steps, in zigzag order
  int component = 0;
  std::uint8_t* samples = nullptr;  // the upper left one of the block of the row's first MCU
  std::int64_t stride = 0;          // bytes from one row of samples to the next
  std::int64_t mcu_step = 0;        // bytes from the block of one MCU to that of the next
};

// Some blocks of one row of MCUs that follow one another in the scan.
struct BlockRun {
  std::int64_t first = 0;  // within the row of MCUs: MCU * blocks in an MCU + block
  std::span<const CoefficientBlock> blocks;
  const Coefficient* coefficients = nullptr;  // of the list that the blocks' `end`s count in
  std::uint32_t begin = 0;                    // of the first block's AC coefficients in it
  std::array<std::int32_t, 3> dc_base{};      // by component: is added to every block's dc
};

// Dequantises and transforms the blocks, and writes 8x8 samples for each, whole blocks at the picture's edges
// too. `targets`: by block of an MCU. The dc becomes its lower 16 bits, as in libjpeg-turbo.
void reconstruct_blocks(std::span<const BlockTarget> targets, const BlockRun& run);

// A row of samples of a colour plane may be read from 64 bytes before its first to 64 bytes behind its last;
// fill_edges() repeats the first and the last one there (64 bytes each way), as upsampling has it.
inline constexpr std::int64_t kSampleMargin = 64;
void fill_edges(std::uint8_t* row, std::int64_t width);

// The rows that one row of pixels is made of. Of a colour plane that has half the rows: `near` is the one
// that the row of pixels lies in, `far` the one above it (for the upper of the two rows of pixels) or below
// it (for the lower one); beyond the picture it is `near` again. Else `far` is not read.
struct SampleRows {
  const std::uint8_t* y = nullptr;
  const std::uint8_t* cb_near = nullptr;
  const std::uint8_t* cb_far = nullptr;
  const std::uint8_t* cr_near = nullptr;
  const std::uint8_t* cr_far = nullptr;
  bool lower = false;
};

// `width` pixels, 3 bytes each. Colour rows have their edges filled. Not for Sampling::grey: there the row of
// samples is the row of pixels. A colour plane of 2 or fewer samples across is repeated in place of
// interpolated (s422 and s420; both ways), as in libjpeg-turbo. `sampling` s440 is interpolated up and down
// as libjpeg-turbo does from 2.1 on.
void make_rgb_row(Sampling sampling, const SampleRows& rows, std::int64_t width, std::uint8_t* rgb);

}  // namespace imgpipe

// Contrast-limited adaptive histogram equalisation (Zuiderveld, Graphics Gems IV, 1994): each tile of the
// image has a table that makes its histogram even, with no count above a limit, and a pixel becomes what the
// tables of the four nearest tiles make of it, weighted by its distance to their middles; each colour plane
// by itself. The rule is that of OpenCV's createCLAHE(), rounding by rounding (docs/pixels.md).
//
//   tiles     |   0   |   1   |   2   |      the last one may reach beyond the image
//   cells     | 0 |   1   |   2   | 3 |      between two middles: of tiles i - 1 and i is cell i
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/equalization.h"
#include "kernels/shared/window.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// Along each side, as in Zuiderveld's own program; the tables of 16-bit samples are 71 MB a plane then.
inline constexpr int kMaxTiles = 16;

// ---- the tiles of an image ----------------------------------------------------------------------------

// Where the sides are not both multiples of `tiles` the image goes on behind its last column and row,
// mirrored as by smooth's Border::reflect, to the next multiple; a side that is one already gets a whole
// `tiles` more.
struct ClaheTiles {
  constexpr ClaheTiles(const FrameType& in, const Parameters& values)
      : along_side(static_cast<int>(values[1])) {
    const std::int64_t more = in.width % along_side == 0 && in.height % along_side == 0 ? 0 : 1;
    width = in.width / along_side + more;
    height = in.height / along_side + more;
    const double most = static_cast<double>(values[0]) / kDecimalOne * static_cast<double>(pixels()) /
                        static_cast<double>(in.bins());
    if (values[0] > 0) {
      limit = most < 1                               ? 1
              : most < static_cast<double>(pixels()) ? static_cast<std::int64_t>(most)
                                                     : pixels();
    }
    scale = equalize_scale(max_sample(in.sample), static_cast<std::uint64_t>(pixels()));
    a_column = 1.0F / static_cast<float>(width);
    a_row = 1.0F / static_cast<float>(height);
  }
  // Of a tile.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::int64_t pixels() const { return width * height; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr int count() const { return along_side * along_side; }
  // Along a side.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr int cells() const { return along_side + 1; }

  int along_side;
  std::int64_t width = 0, height = 0;  // of a tile
  std::int64_t limit = 0;              // of a tile's counts; 0: none
  float scale = 0;                     // from a count of pixels to a value
  float a_column = 0, a_row = 0;       // of a tile's width and height
};

static_assert(ClaheTiles({.width = 64, .height = 65}, {{0, 8}}).width == 9);  // 72 x 72
static_assert(ClaheTiles({.width = 64, .height = 16}, {{0, 8}}).height == 2);
static_assert(ClaheTiles({.width = 64, .height = 64}, {{40 * kDecimalOne, 2}}).limit == 160);
static_assert(ClaheTiles({.width = 64, .height = 64}, {{1, 2}}).limit == 1);

// What redistribution adds to the counts of all values: what was above the limit, shared out evenly, and what
// is left of that to every step-th value from 0 on, one each.
struct ClaheExcess {
  IMGPIPE_HOST_DEVICE constexpr ClaheExcess(std::uint32_t excess, std::uint32_t bins)
      : each(excess / bins), left(excess % bins), step(left == 0 ? 1 : bins / left) {}
  // To all values up to this one.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t up_to(std::uint32_t value) const {
    const std::uint32_t ones = value / step + 1;
    return each * (value + 1) + (ones < left ? ones : left);
  }
  std::uint32_t each, left, step;
};

static_assert(ClaheExcess(256 + 3, 256).up_to(0) == 2 && ClaheExcess(256 + 3, 256).up_to(84) == 86);
static_assert(ClaheExcess(259, 256).up_to(85) == 88 && ClaheExcess(259, 256).up_to(255) == 259);

// ---- the arithmetic of one pixel: floats of 32 bits, each operation rounded by itself -----------------

// A column or row: its cell, and the share that the tile behind it has.
struct ClahePlace {
  int cell;
  float share;
};

// `part`: what a column is of a tile's width, or a row of its height.
IMGPIPE_HOST_DEVICE constexpr ClahePlace clahe_place(int at, float part) {
#ifdef __CUDA_ARCH__  // nvcc would make one instruction of a product and a sum
  const float place = __fadd_rn(__fmul_rn(static_cast<float>(at), part), -0.5F);
#else
  const float place = static_cast<float>(at) * part - 0.5F;
#endif
  const int before = place < 0 ? -1 : static_cast<int>(place);  // rounded down: it is at least -1/2
  return {before + 1, place - static_cast<float>(before)};
}

// The tiles before and behind a cell: at the image's sides both are one.
IMGPIPE_HOST_DEVICE constexpr int tile_before(int cell) {
  return cell == 0 ? 0 : cell - 1;
}
IMGPIPE_HOST_DEVICE constexpr int tile_after(int cell, int tiles) {
  return cell == tiles ? cell - 1 : cell;
}

// share of b, the rest of a.
IMGPIPE_HOST_DEVICE constexpr float clahe_mix(float a, float b, float share) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(__fmul_rn(a, 1.0F - share), __fmul_rn(b, share));
#else
  return a * (1.0F - share) + b * share;
#endif
}

// Rounded half to even, at most max_value; not negative.
IMGPIPE_HOST_DEVICE constexpr int clahe_rounded(float value, int max_value) {
  return equalized(1, value, max_value);
}

#ifndef __CUDA_ARCH__
static_assert(clahe_place(0, 0.25F).cell == 0 && clahe_place(0, 0.25F).share == 0.5F);
static_assert(clahe_place(2, 0.25F).cell == 1 && clahe_place(2, 0.25F).share == 0);
static_assert(clahe_place(5, 0.25F).cell == 1 && clahe_place(5, 0.25F).share == 0.75F);
static_assert(clahe_mix(10, 20, 0.25F) == 12.5F && clahe_rounded(12.5F, 255) == 12);
static_assert(clahe_rounded(255.6F, 255) == 255);
#endif

// ---- the stage --------------------------------------------------------------------------------------

// Counts, and OpenCV's, end at 2^31 - 1.
[[nodiscard]] std::string_view clahe_infer(const FrameType& in, const Parameters&, FrameType& out);

// Its table: for each colour plane, row of tiles and cell of a row, what the tile before the cell and the
// tile after it make of each value: pairs of samples.
[[nodiscard]] constexpr std::int64_t clahe_pairs(const FrameType& in, const ClaheTiles& tiles) {
  return std::int64_t{tiles.along_side} * tiles.cells() * in.bins();
}
[[nodiscard]] std::int64_t clahe_table_bytes(const FrameType& in, const Parameters& parameters);
// A part is a tile of a plane.
[[nodiscard]] std::int64_t clahe_table_parts(const FrameType& in, const Parameters& parameters);
void clahe_table(const StageCall<Host>& call, const Band& parts);
// On a device: the pairs of all planes, and counters; of 16 bits those of one plane, after which comes the
// next one.
[[nodiscard]] std::int64_t clahe_scratch_bytes(const FrameType& in, const Parameters& parameters);

// in, out: planar, same shape, any size from 1x1.
void clahe_reference(const StageCall<Host>& call);

// The same in SIMD; table: what clahe_table() wrote.
void clahe_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; scratch: clahe_scratch_bytes().
CudaStatus clahe_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus clahe16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
// A block counts an equal part of the values: 1, 2 or 4, what shared memory holds.
CudaStatus clahe16_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, int parts);

}  // namespace imgpipe

// Contrast-limited adaptive histogram equalisation (Zuiderveld, Graphics Gems IV, 1994). Each tile of the
// image has a table that equalises its histogram after counts above a limit are clipped. A pixel's result is
// interpolated bilinearly between those of the four tiles with the nearest centres. Colour planes are
// processed separately. Follows OpenCV's createCLAHE(), including every rounding (docs/pixels.md).
//
//   tiles     |   0   |   1   |   2   |      the last one may extend beyond the image
//   cells     | 0 |   1   |   2   | 3 |      cell i lies between the middles of tiles i - 1 and i
#pragma once

#include "kernels/pixel.h"
#include "kernels/shared/equalization.h"
#include "kernels/shared/window.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The maximum number of tiles along each side, as in Zuiderveld's program; the tables of 16-bit samples then
// take 71 MB per plane.
inline constexpr int kMaxTiles = 16;

// ---- the tiles of an image ----------------------------------------------------------------------------

// Unless both sides are multiples of `tiles`, the image is extended to the right and down to the next
// multiple; a side that is already a multiple grows by `tiles`. The extension is mirrored as with smooth's
// Border::reflect.
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
  // Pixels of a tile.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::int64_t pixels() const { return width * height; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr int count() const { return along_side * along_side; }
  // Cells along a side.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr int cells() const { return along_side + 1; }

  int along_side;
  std::int64_t width = 0, height = 0;  // of a tile
  std::int64_t limit = 0;              // of a tile's counts; 0: no limit
  float scale = 0;                     // converts a count of pixels to a value
  float a_column = 0, a_row = 0;       // the reciprocals of a tile's width and height
};

static_assert(ClaheTiles({.width = 64, .height = 65}, {{0, 8}}).width == 9);  // 72 x 72
static_assert(ClaheTiles({.width = 64, .height = 16}, {{0, 8}}).height == 2);
static_assert(ClaheTiles({.width = 64, .height = 64}, {{40 * kDecimalOne, 2}}).limit == 160);
static_assert(ClaheTiles({.width = 64, .height = 64}, {{1, 2}}).limit == 1);

// The amounts that redistribution adds to the counts. The excess over the limit is divided evenly among all
// values; the remainder is distributed as 1 to every step-th value, starting at 0.
struct ClaheExcess {
  IMGPIPE_HOST_DEVICE constexpr ClaheExcess(std::uint32_t excess, std::uint32_t bins)
      : each(excess / bins), left(excess % bins), step(left == 0 ? 1 : bins / left) {}
  // Returns the total added to the values 0 to `value`.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t up_to(std::uint32_t value) const {
    const std::uint32_t ones = value / step + 1;
    return each * (value + 1) + (ones < left ? ones : left);
  }
  std::uint32_t each, left, step;
};

static_assert(ClaheExcess(256 + 3, 256).up_to(0) == 2 && ClaheExcess(256 + 3, 256).up_to(84) == 86);
static_assert(ClaheExcess(259, 256).up_to(85) == 88 && ClaheExcess(259, 256).up_to(255) == 259);

// ---- the arithmetic of one pixel: 32-bit floats, each operation rounded separately -------------------

// The cell of a pixel column or row, and the weight (`share`) of the tile after that cell.
struct CellPosition {
  int cell;
  float share;
};

// `part`: the reciprocal of a tile's width (columns) or height (rows).
IMGPIPE_HOST_DEVICE constexpr CellPosition cell_position(int at, float part) {
#ifdef __CUDA_ARCH__  // nvcc would contract the product and the sum
  const float position = __fadd_rn(__fmul_rn(static_cast<float>(at), part), -0.5F);
#else
  const float position = static_cast<float>(at) * part - 0.5F;
#endif
  const int before = position < 0 ? -1 : static_cast<int>(position);  // rounds down: position >= -1/2
  return {before + 1, position - static_cast<float>(before)};
}

// The tiles before and after a cell; at the image's sides, the same tile.
IMGPIPE_HOST_DEVICE constexpr int tile_before(int cell) {
  return cell == 0 ? 0 : cell - 1;
}
IMGPIPE_HOST_DEVICE constexpr int tile_after(int cell, int tiles) {
  return cell == tiles ? cell - 1 : cell;
}

// Returns the mean of a and b in which b has the weight `share`.
IMGPIPE_HOST_DEVICE constexpr float clahe_mix(float a, float b, float share) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(__fmul_rn(a, 1.0F - share), __fmul_rn(b, share));
#else
  return a * (1.0F - share) + b * share;
#endif
}

// Rounds half to even and limits to max_value; `value` is not negative.
IMGPIPE_HOST_DEVICE constexpr int clahe_rounded(float value, int max_value) {
  return equalized(1, value, max_value);
}

#ifndef __CUDA_ARCH__
static_assert(cell_position(0, 0.25F).cell == 0 && cell_position(0, 0.25F).share == 0.5F);
static_assert(cell_position(2, 0.25F).cell == 1 && cell_position(2, 0.25F).share == 0);
static_assert(cell_position(5, 0.25F).cell == 1 && cell_position(5, 0.25F).share == 0.75F);
static_assert(clahe_mix(10, 20, 0.25F) == 12.5F && clahe_rounded(12.5F, 255) == 12);
static_assert(clahe_rounded(255.6F, 255) == 255);
#endif

// ---- the stage --------------------------------------------------------------------------------------

// Rejects tiles of more than 2^31 - 1 pixels, the largest count here and in OpenCV.
[[nodiscard]] std::string_view clahe_infer(const FrameType& in, const Parameters&, FrameType& out);

// The table: for each colour plane, row of tiles and cell of that row, a pair of samples per value: the
// results of the tile before the cell and of the tile after it.
[[nodiscard]] constexpr std::int64_t clahe_pairs(const FrameType& in, const ClaheTiles& tiles) {
  return std::int64_t{tiles.along_side} * tiles.cells() * in.bins();
}
[[nodiscard]] std::int64_t clahe_table_bytes(const FrameType& in, const Parameters& parameters);
// A part is one tile of one plane.
[[nodiscard]] std::int64_t clahe_table_parts(const FrameType& in, const Parameters& parameters);
void clahe_table(const StageCall<Host>& call, const Band& parts);
// Returns the device memory for pairs and counters: those of all planes with 8 bits, those of one plane at a
// time with 16.
[[nodiscard]] std::int64_t clahe_scratch_bytes(const FrameType& in, const Parameters& parameters);

// in, out: planar, same shape, any size from 1x1.
void clahe_reference(const StageCall<Host>& call);

// The same in SIMD; table: the output of clahe_table().
void clahe_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; scratch: clahe_scratch_bytes().
CudaStatus clahe_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus clahe16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
// The same for a given number of parts: each block counts 1/parts of the values. parts: 1, 2 or 4; fewer
// parts need more shared memory.
CudaStatus clahe16_parts_cuda(const StageCall<Device>& call, const CudaLaunch& launch, int parts);

}  // namespace imgpipe

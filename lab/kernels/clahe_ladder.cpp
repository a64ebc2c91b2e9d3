// The ladder of clahe. A byte in twice and a byte out is its floor; then there are as many histograms as
// tiles, and four look-ups and three mixtures a pixel.
#include "lab/kernels/clahe_ladder.h"

#include <array>
#include <vector>

#include "lab/kernels/cuda_rung.h"

namespace imgpipe {
namespace {

// What the pixels of a row of the image become: `found` as of clahe_find_part().
void mix_row(const ClaheTiles& tiles, const Sample* pairs, std::int64_t y, const Sample* in,
             std::int64_t width, Sample* out) {
  const std::int64_t row_pairs = std::int64_t{tiles.cells()} * kBins;
  const auto [row, down] = clahe_place(static_cast<int>(y), tiles.a_row);
  const Sample* upper = pairs + 2 * row_pairs * tile_before(row);
  const Sample* lower = pairs + 2 * row_pairs * tile_behind(row, tiles.along_side);
  for (std::int64_t x = 0; x < width; ++x) {
    const auto [cell, across] = clahe_place(static_cast<int>(x), tiles.a_column);
    const std::int64_t at = 2 * (std::int64_t{cell} * kBins + in[x]);
    const float above = clahe_mix(upper[at], upper[at + 1], across);
    const float below = clahe_mix(lower[at], lower[at + 1], across);
    out[x] = static_cast<Sample>(clahe_rounded(clahe_mix(above, below, down), kMaxSample));
  }
}

void mix_rows(const ClaheTiles& tiles, const Sample* pairs, const StageCall<Host>& call, const Band& band) {
  const ConstHostPlane in = call.in.plane<Sample>(0);
  const HostPlane out = call.out.plane<Sample>(0);
  for (std::int64_t y = band.first; y < band.end; ++y)
    mix_row(tiles, pairs, y, in.row(y - band.in_top), in.width, out.row(y - band.out_top));
}

// A share makes every tile's table for itself.
void all_tables_each(const StageCall<Host>& call, const Share& share) {
  const FrameType& type = call.in.type;
  std::vector<std::byte> found(static_cast<std::size_t>(clahe_found_bytes(type, call.parameters)));
  for (std::int64_t part = 0; part < clahe_find_parts(type, call.parameters); ++part)
    clahe_find_part(call.in, call.parameters, part, found.data());
  mix_rows(ClaheTiles(type, call.parameters), reinterpret_cast<const Sample*>(found.data()), call,
           {type.height * share.index / share.count, type.height * (share.index + 1) / share.count, 0, 0});
}

// The tables are there.
void mix_pixels(const StageCall<Host>& call, const Band& band) {
  mix_rows(ClaheTiles(call.in.type, call.parameters), call.found.as<Sample>(), call, band);
}

}  // namespace

std::span<const Rung> clahe_ladder() {
  static constexpr std::array kLadder{
      Rung{.name = "sequential",
           .idea = "one thread: the tables tile after tile, then four look-ups a pixel",
           .origin = "Zuiderveld 1994, Graphics Gems IV",
           .reference = clahe_reference},
      Rung{.name = "cpu-apart",
           .idea = "threads, each with all tables made by itself: nothing to wait for, all counted by all",
           .origin = "first attempt with threads",
           .share = all_tables_each},
      Rung{.name = "cpu-pixels",
           .idea = "the tiles shared out among the threads, then the rows, pixel by pixel",
           .origin = "cv::CLAHE's two parallel loops",
           .cpu = mix_pixels},
      Rung{.name = "cpu",
           .idea = "the same in SIMD: --device cpu",
           .origin = "imgpipe; Highway",
           .cpu = clahe_cpu},
      Rung{.name = "naive",
           .idea = "counted by atomic additions in global memory, a table by one thread, a thread a pixel",
           .origin = "first attempt of every course",
           .launch = IMGPIPE_CUDA_RUNG(clahe_naive),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(clahe_scratch_bytes),
           .grid = Grid::covering},
      Rung{.name = "block-a-tile",
           .idea =
               "a block counts a tile in shared memory and makes its table by a prefix sum: no more blocks "
               "than tiles",
           .origin = "cv::cuda::CLAHE",
           .launch = IMGPIPE_CUDA_RUNG(clahe_block_a_tile),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(clahe_scratch_bytes),
           .grid = Grid::covering},
      Rung{.name = "words",
           .idea = "the same, 4 pixels a thread: a row's mixture is found once for them",
           .origin = "Luitjens 2013, vectorized memory access",
           .launch = IMGPIPE_CUDA_RUNG(clahe_words),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(clahe_scratch_bytes)},
      Rung{.name = "production",
           .idea =
               "many blocks a tile; the results of the four tiles around a cell in one word of shared memory",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(clahe_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

}  // namespace imgpipe

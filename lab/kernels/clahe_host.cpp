#include <vector>

#include "kernels/clahe/clahe.h"
#include "kernels/stage.h"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

// Maps the pixels of image row `y`; `pairs` is what clahe_table() made.
void mix_row(const ClaheTiles& tiles, const Sample8* pairs, std::int64_t y, const Sample8* in,
             std::int64_t width, Sample8* out) {
  const std::int64_t row_pairs = std::int64_t{tiles.cells()} * kBins;
  const auto [row, down] = cell_position(static_cast<int>(y), tiles.a_row);
  const Sample8* upper = pairs + 2 * row_pairs * tile_before(row);
  const Sample8* lower = pairs + 2 * row_pairs * tile_after(row, tiles.along_side);
  for (std::int64_t x = 0; x < width; ++x) {
    const auto [cell, across] = cell_position(static_cast<int>(x), tiles.a_column);
    const std::int64_t at = 2 * (std::int64_t{cell} * kBins + in[x]);
    const float above = clahe_mix(upper[at], upper[at + 1], across);
    const float below = clahe_mix(lower[at], lower[at + 1], across);
    out[x] = static_cast<Sample8>(clahe_rounded(clahe_mix(above, below, down), kMaxSample));
  }
}

void mix_rows(const ClaheTiles& tiles, const Sample8* pairs, const StageCall<Host>& call, const Band& band) {
  const ConstHostPlane in = call.in.plane<Sample8>(0);
  const HostPlane out = call.out.plane<Sample8>(0);
  for (std::int64_t y = band.first; y < band.end; ++y)
    mix_row(tiles, pairs, y, in.row(y - band.in_top), in.width, out.row(y - band.out_top));
}

}  // namespace

// Every share makes the tables of all tiles itself.
void clahe_tables_per_share(const StageCall<Host>& call, const Share& share) {
  const FrameType& type = call.in.type;
  const Stage* const maker =
      table_maker(*find_stage("clahe"), call.parameters, Backend::cpu, type.sample, type.sample);
  const std::vector<std::byte> table = make_table(*maker, call);
  mix_rows(ClaheTiles(type, call.parameters), reinterpret_cast<const Sample8*>(table.data()), call,
           {type.height * share.index / share.count, type.height * (share.index + 1) / share.count, 0, 0});
}

// Maps pixels with tables that already exist.
void clahe_interpolate_pixels(const StageCall<Host>& call, const Band& band) {
  mix_rows(ClaheTiles(call.in.type, call.parameters), call.table.as<Sample8>(), call, band);
}

}  // namespace imgpipe

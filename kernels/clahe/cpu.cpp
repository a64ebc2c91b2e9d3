// clahe on the host. Each tile's table is made independently, on any thread. The results of the two tiles
// next to a cell are adjacent in memory, so that a pixel's four results take two lookups. With 8 bits, the
// results of both rows of tiles are combined for each row of cells, so that one lookup suffices.
#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "kernels/clahe/clahe.h"
#include "kernels/shared/count_samples.h"
#include "kernels/shared/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/clahe/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;

// Rounds half to even and limits to T's largest value; `values` are not negative.
template <class T>
HWY_INLINE void store_rounded(VF values, T* to) {
  const DI d;
  const auto whole = hn::Min(hn::NearestInt(values), hn::Set(d, kLargest<T>));
  hn::StoreU(hn::DemoteTo(hn::Rebind<T, DI>(), whole), hn::Rebind<T, DI>(), to);
}

HWY_INLINE VF mixed(VF a, VF b, VF share) {
  return hn::Add(hn::Mul(a, hn::Sub(hn::Set(DF(), 1.0F), share)), hn::Mul(b, share));
}

// Applies equalized() to 256 values. sums: the cumulative counts, below 2^31.
template <class T>
void equalize_sums(const std::int32_t* sums, float scale, T* table) {
  const DI d;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  for (int v = 0; v < 256; v += lanes) {  // a multiple of lanes
    const VF sum = hn::ConvertTo(DF(), hn::LoadU(d, sums + v));
    store_rounded(hn::Mul(sum, hn::Set(DF(), scale)), table + v);
  }
}

void equalize_sums8(const std::int32_t* sums, float scale, Sample8* table) {
  equalize_sums(sums, scale, table);
}
void equalize_sums16(const std::int32_t* sums, float scale, Sample16* table) {
  equalize_sums(sums, scale, table);
}

// For each column of a row: the offset of its cell's tables, and the weight of the tile after the cell.
struct Columns {
  Columns(const FrameType& in, const ClaheTiles& tiles)
      : tables(static_cast<std::size_t>(in.width)), shares(static_cast<std::size_t>(in.width)) {
    for (std::size_t x = 0; x < shares.size(); ++x) {
      const auto [cell, share] = cell_position(static_cast<int>(x), tiles.a_column);
      tables[x] = cell * static_cast<std::int32_t>(in.bins());
      shares[x] = share;
    }
  }
  std::vector<std::int32_t> tables;
  std::vector<float> shares;
};

template <int Bit, class V>
HWY_INLINE VF part_of(V words, std::uint32_t mask) {
  const DU d;
  return hn::ConvertTo(DF(), hn::BitCast(DI(), hn::And(hn::ShiftRight<Bit>(words), hn::Set(d, mask))));
}

// For a row of cells: the results of the four tiles around each cell for each value.
struct Cells8 {
  using T = Sample8;
  Cells8(const ClaheTiles& tiles, const Sample8* pairs)
      : along_side(tiles.along_side), all(pairs), words(static_cast<std::size_t>(tiles.cells()) * kBins) {}
  // Combines the results for row `cell`.
  void move_to(int cell) {
    if (cell == row) return;
    row = cell;
    const Sample8* upper = all + 2 * words.size() * static_cast<std::size_t>(tile_before(cell));
    const Sample8* lower = all + 2 * words.size() * static_cast<std::size_t>(tile_after(cell, along_side));
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = static_cast<std::uint32_t>(upper[2 * i] | upper[2 * i + 1] << 8 | lower[2 * i] << 16) |
                 static_cast<std::uint32_t>(lower[2 * i + 1]) << 24;
    }
  }
  template <class V>
  HWY_INLINE void look_up(V at, VF share, VF& above, VF& below) const {
    const auto four = hn::GatherIndex(DU(), words.data(), at);
    above = mixed(part_of<0>(four, 0xFF), part_of<8>(four, 0xFF), share);
    below = mixed(part_of<16>(four, 0xFF), part_of<24>(four, 0xFF), share);
  }
  void look_up(std::int32_t at, float share, float& above, float& below) const {
    const std::uint32_t four = words[static_cast<std::size_t>(at)];
    above = clahe_mix(static_cast<float>(four & 0xFF), static_cast<float>(four >> 8 & 0xFF), share);
    below = clahe_mix(static_cast<float>(four >> 16 & 0xFF), static_cast<float>(four >> 24), share);
  }

  int along_side;
  const Sample8* all;
  int row = -1;
  std::vector<std::uint32_t> words;
};

struct Cells16 {
  using T = Sample16;
  Cells16(const ClaheTiles& tiles, const Sample16* pairs)
      : along_side(tiles.along_side),
        row_pairs(std::size_t{65536} * static_cast<std::size_t>(tiles.cells())),
        all(reinterpret_cast<const std::uint32_t*>(pairs)) {}
  void move_to(int cell) {
    upper = all + row_pairs * static_cast<std::size_t>(tile_before(cell));
    lower = all + row_pairs * static_cast<std::size_t>(tile_after(cell, along_side));
  }
  // The shifts that extract the first and the second sample in memory order.
  static constexpr int kFirst = std::endian::native == std::endian::little ? 0 : 16;
  template <class V>
  HWY_INLINE void look_up(V at, VF share, VF& above, VF& below) const {
    const auto two_above = hn::GatherIndex(DU(), upper, at);
    const auto two_below = hn::GatherIndex(DU(), lower, at);
    above = mixed(part_of<kFirst>(two_above, 0xFFFF), part_of<16 - kFirst>(two_above, 0xFFFF), share);
    below = mixed(part_of<kFirst>(two_below, 0xFFFF), part_of<16 - kFirst>(two_below, 0xFFFF), share);
  }
  static float mixed_pair(std::uint32_t two, float share) {
    return clahe_mix(static_cast<float>(two >> kFirst & 0xFFFF),
                     static_cast<float>(two >> (16 - kFirst) & 0xFFFF), share);
  }
  void look_up(std::int32_t at, float share, float& above, float& below) const {
    above = mixed_pair(upper[at], share);
    below = mixed_pair(lower[at], share);
  }

  int along_side;
  std::size_t row_pairs;
  const std::uint32_t *all, *upper = nullptr, *lower = nullptr;
};

// `down`: the weight of the lower row of tiles.
template <class Cells, class T = typename Cells::T>
HWY_INLINE void interpolate_vector(const Cells& cells, const Columns& columns, VF down, const T* in,
                                   std::int64_t x, T* out) {
  const auto v = hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<T, DI>(), in + x));
  const auto at = hn::Add(v, hn::LoadU(DI(), columns.tables.data() + x));
  VF above;
  VF below;
  cells.look_up(at, hn::LoadU(DF(), columns.shares.data() + x), above, below);
  store_rounded(mixed(above, below, down), out + x);
}

template <class Cells, class T = typename Cells::T>
void interpolate_row(const Cells& cells, const Columns& columns, float down, const T* in, std::int64_t width,
                     T* out) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(DF()));
  if (width < lanes) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto i = static_cast<std::size_t>(x);
      float above = 0;
      float below = 0;
      cells.look_up(columns.tables[i] + in[x], columns.shares[i], above, below);
      out[x] = static_cast<T>(clahe_rounded(clahe_mix(above, below, down), kLargest<T>));
    }
    return;
  }
  const VF share = hn::Set(DF(), down);
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) interpolate_vector(cells, columns, share, in, x, out);
  // Repeats part of the previous vector, so that the last one ends with the row.
  if (x < width) interpolate_vector(cells, columns, share, in, width - lanes, out);
}

template <class Cells, class T = typename Cells::T>
void interpolate_band(const StageCall<Host>& call, const Band& band) {
  const ClaheTiles tiles(call.in.type, call.parameters);
  const Columns columns(call.in.type, tiles);
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto in = call.in.plane<T>(static_cast<std::size_t>(c));
    const auto out = call.out.plane<T>(static_cast<std::size_t>(c));
    Cells cells(tiles, call.table.as<const T>() + std::int64_t{2} * c * clahe_pairs(call.in.type, tiles));
    for (std::int64_t y = band.first; y < band.end; ++y) {
      const auto [cell, down] = cell_position(static_cast<int>(y), tiles.a_row);
      cells.move_to(cell);
      interpolate_row(cells, columns, down, in.row(y - band.in_top), in.width, out.row(y - band.out_top));
    }
  }
}

void clahe_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR {
    interpolate_band<std::conditional_t<kIsWide<T>, Cells16, Cells8>>(call, band);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(equalize_sums8);
HWY_EXPORT(equalize_sums16);

namespace {

// Adds the counts of a rectangle inside a plane.
template <class T>
void count_inside(const Plane<const T, Host>& plane, std::int64_t x, std::int64_t y, std::int64_t width,
                  std::int64_t height, std::uint64_t* counts) {
  if (width <= 0 || height <= 0) return;
  StageCall<Host> call{};
  call.in.type = {.width = width, .height = height, .sample = sample_type_of<T>};
  call.in.planes[0] = Plane<const T, Host>{plane.row(y) + x, width, height, plane.stride, 1};
  call.histogram = histogram_view<Host>(counts, call.in.type);
  hist_cpu(call, {0, height, 0, 0});
}

// Returns the counts of the tile whose first pixel is (left, top). Counts the part inside the image as a
// rectangle, mirrored rows one at a time, and mirrored columns pixel by pixel.
template <class T>
std::vector<std::uint64_t> counts_of_tile(const Plane<const T, Host>& plane, const ClaheTiles& tiles,
                                          std::int64_t left, std::int64_t top) {
  std::vector<std::uint64_t> counts(std::size_t{kLargest<T>} + 1);
  const std::int64_t columns = std::clamp<std::int64_t>(plane.width - left, 0, tiles.width);
  const std::int64_t rows = std::clamp<std::int64_t>(plane.height - top, 0, tiles.height);
  count_inside(plane, left, top, columns, rows, counts.data());
  for (std::int64_t y = top + rows; y < top + tiles.height; ++y)
    count_inside(plane, left, reflected(y, plane.height), columns, 1, counts.data());
  for (std::int64_t y = top; y < top + tiles.height && columns < tiles.width; ++y) {
    const T* const row = plane.row(reflected(y, plane.height));
    for (std::int64_t x = left + columns; x < left + tiles.width; ++x)
      ++counts[row[reflected(x, plane.width)]];
  }
  return counts;
}

constexpr int kChunk = 256;  // values

// The cumulative sums of the limited counts, including redistribution; the last sum is the number of pixels.
class LimitedSums {
 public:
  LimitedSums(const std::vector<std::uint64_t>& counts, const ClaheTiles& tiles)
      : counts_(counts),
        limit_(static_cast<std::uint64_t>(tiles.limit > 0 ? tiles.limit : tiles.pixels())),
        more_(excess(), static_cast<std::uint32_t>(counts.size())),
        ones_end_(std::size_t{more_.left} * more_.step) {}

  // Sets `sums` to the cumulative sums for the next kChunk values.
  void next(std::int32_t (&sums)[kChunk]) {
    for (std::int32_t& sum : sums) {
      sum_ += std::min(counts_[value_], limit_) + more_.each;
      if (value_ == next_one_ && value_ < ones_end_) {
        ++sum_;
        next_one_ += more_.step;
      }
      ++value_;
      sum = static_cast<std::int32_t>(sum_);
    }
  }

 private:
  [[nodiscard]] std::uint32_t excess() const {
    std::uint64_t above = 0;
    for (const std::uint64_t count : counts_) above += count - std::min(count, limit_);
    return static_cast<std::uint32_t>(above);
  }

  const std::vector<std::uint64_t>& counts_;
  const std::uint64_t limit_;
  const ClaheExcess more_;
  const std::size_t ones_end_;
  std::size_t value_ = 0, next_one_ = 0;
  std::uint64_t sum_ = 0;
};

// Writes a tile's table to the pairs of the cells on either side of it: as the second result of the cell
// before the tile, and as the first result of the cell after it. At the image's left and right sides, the
// outermost cell gets it as both results.
template <class T>
void find_tile(const Plane<const T, Host>& plane, const ClaheTiles& tiles, int tile, T* pairs) {
  constexpr int kValues = kLargest<T> + 1;
  const int column = tile % tiles.along_side;
  const int row = tile / tiles.along_side;
  const std::vector<std::uint64_t> counts =
      counts_of_tile(plane, tiles, column * tiles.width, row * tiles.height);
  LimitedSums all_sums(counts, tiles);
  T* const first = pairs + (std::int64_t{row} * tiles.cells() + column) * 2 * kValues;
  T* const second = first + std::int64_t{2} * kValues;
  for (std::int64_t from = 0; from < kValues; from += kChunk) {
    std::int32_t sums[kChunk];
    T table[kChunk];
    all_sums.next(sums);
    if constexpr (kIsWide<T>) {
      HWY_DYNAMIC_DISPATCH(equalize_sums16)(sums, tiles.scale, table);
    } else {
      HWY_DYNAMIC_DISPATCH(equalize_sums8)(sums, tiles.scale, table);
    }
    const auto write = [&](T* to) {
      for (std::int64_t i = 0; i < kChunk; ++i) to[2 * (from + i)] = table[i];
    };
    write(first + 1);
    write(second);
    if (column == 0) write(first);
    if (column == tiles.along_side - 1) write(second + 1);
  }
}

template <class T>
void find_tiles(const StageCall<Host>& call, const Band& parts) {
  const ClaheTiles tiles(call.in.type, call.parameters);
  for (std::int64_t part = parts.first; part < parts.end; ++part) {
    const std::int64_t c = part / tiles.count();
    find_tile<T>(call.in.plane<T>(static_cast<std::size_t>(c)), tiles, static_cast<int>(part % tiles.count()),
                 call.table.as<T>() + 2 * c * clahe_pairs(call.in.type, tiles));
  }
}

}  // namespace

std::int64_t clahe_table_parts(const FrameType& in, const Parameters& parameters) {
  return std::int64_t{in.color_channels} * ClaheTiles(in, parameters).count();
}

void clahe_table(const StageCall<Host>& call, const Band& parts) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { find_tiles<T>(call, parts); });
}

}  // namespace imgpipe

IMGPIPE_DISPATCH(clahe)
#endif

// resize of samples of 16 bits in SIMD: as cpu.cpp does it for 8 bits, with 32 bits for sums and for rows
// that are blended along themselves.
#include <algorithm>

#include "kernels/resize/host_plane.h"
#include "kernels/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/cpu16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef IMGPIPE_RESIZE_CHUNKS_16
#define IMGPIPE_RESIZE_CHUNKS_16
namespace imgpipe {
namespace {

constexpr std::int64_t kLinearChunk = 2048;  // columns of the output: two rows of them take 16 KiB
constexpr std::int64_t kAreaChunk = 4096;    // columns of the input: their sums take 16 KiB
// Rows that are summed before they are weighed; few enough for the processor to follow.
constexpr std::int64_t kRowGroup = 16;

// The value of a place between two columns, times 256: 24 bits.
inline std::uint32_t blended(std::int32_t left, std::int32_t right, std::int32_t share) {
  return static_cast<std::uint32_t>((left << kLinearBits) + (right - left) * share);
}

// Columns first..end-1 of the output. `last`: the row's last pixel; behind it is none to blend it with.
inline void blend_columns(const Sample16* row, std::int64_t last, const AxisTable& table, std::int64_t first,
                          std::int64_t end, std::uint32_t* to) {
  while (end > first && table.source[end - 1] == last) {
    --end;
    to[end - first] = blended(row[last], 0, 0);
  }
  for (std::int64_t x = first; x < end; ++x) {
    const Sample16* at = row + table.source[x];
    to[x - first] = blended(at[0], at[1], table.share[x]);
  }
}

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Plane16 = ResizePlane<Sample16>;
using D16 = hn::ScalableTag<std::uint16_t>;
using D32 = hn::Repartition<std::uint32_t, D16>;
using Narrow = hn::Rebind<std::uint16_t, D32>;  // as many samples as there are sums in a vector
using V32 = hn::Vec<D32>;

// Values below 65536 as samples.
HWY_INLINE void store_narrow(V32 v, Sample16* to) {
  hn::StoreU(hn::DemoteTo(Narrow(), hn::BitCast(hn::RebindToSigned<D32>(), v)), Narrow(), to);
}

// ---- linear -----------------------------------------------------------------------------------------

// 32 bits hold the sum of both rows, weighed, and the rounding; the difference may wrap.
void blend_rows(const std::uint32_t* first, const std::uint32_t* second, int share, std::int64_t count,
                Sample16* to) {
  const D32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V32 shares = hn::Set(d, static_cast<std::uint32_t>(share));
  const V32 half = hn::Set(d, 1U << (2 * kLinearBits - 1));
  std::int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const V32 upper = hn::LoadU(d, first + x);
    const V32 below = hn::Mul(hn::Sub(hn::LoadU(d, second + x), upper), shares);
    const V32 sum = hn::Add(hn::Add(hn::ShiftLeft<kLinearBits>(upper), below), half);
    store_narrow(hn::ShiftRight<2 * kLinearBits>(sum), to + x);
  }
  for (; x < count; ++x) {
    to[x] = linear_rounded<Sample16>(static_cast<std::uint32_t>(kLinearOne - share) * first[x] +
                                     static_cast<std::uint32_t>(share) * second[x]);
  }
}

// Two rows of the input, blended along themselves; each is made when it is first asked for.
class BlendedRows {
 public:
  const std::uint32_t* row(const Plane16& plane, std::int64_t source, std::int64_t first, std::int64_t end) {
    const auto slot = static_cast<std::size_t>(source % 2);
    if (holds_[slot] != source) {
      blend_columns(plane.from(source), plane.in.width - 1, plane.tables.across, first, end, values_[slot]);
      holds_[slot] = source;
    }
    return values_[slot];
  }

 private:
  std::int64_t holds_[2] = {-1, -1};
  alignas(64) std::uint32_t values_[2][kLinearChunk];
};

void linear_plane(const Plane16& plane) {
  for (std::int64_t first = 0; first < plane.out.width; first += kLinearChunk) {
    const std::int64_t end = std::min(plane.out.width, first + kLinearChunk);
    BlendedRows rows;
    for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
      const std::int64_t source = plane.tables.down.source[y];
      const int share = plane.tables.down.share[y];
      const std::uint32_t* upper = rows.row(plane, source, first, end);
      const std::uint32_t* lower = share > 0 ? rows.row(plane, source + 1, first, end) : upper;
      blend_rows(upper, lower, share, end - first, plane.to(y) + first);
    }
  }
}

// ---- halves -----------------------------------------------------------------------------------------

// Of a vector of neighbours.
HWY_INLINE V32 pair_sums(const Sample16* at) {
  const D32 d;
  const V32 both = hn::BitCast(d, hn::LoadU(D16(), at));
  return hn::Add(hn::And(both, hn::Set(d, 0xFFFF)), hn::ShiftRight<16>(both));
}

void halve_row(const Sample16* upper, const Sample16* lower, std::int64_t width, Sample16* to) {
  const D32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const V32 sum = hn::Add(hn::Add(pair_sums(upper + 2 * x), pair_sums(lower + 2 * x)), hn::Set(d, 2));
    store_narrow(hn::ShiftRight<2>(sum), to + x);
  }
  for (; x < width; ++x) {
    const int sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
    to[x] = static_cast<Sample16>((sum + 2) / 4);
  }
}

void halve_plane(const Plane16& plane) {
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y)
    halve_row(plane.from(2 * y), plane.from(2 * y + 1), plane.out.width, plane.to(y));
}

// ---- area -------------------------------------------------------------------------------------------

// Adds rows first..end-1, each `weight` times, or, if `anew`, stores that. At most kRowGroup rows.
void add_rows(const Plane16& plane, std::int64_t first, std::int64_t end, std::uint32_t weight, bool anew,
              std::int64_t column, std::int64_t columns, std::uint32_t* sums) {
  const D32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V32 weights = hn::Set(d, weight);
  const Sample16* top = plane.from(first) + column;
  const std::int64_t stride = plane.in.stride;
  const std::int64_t rows = end - first;
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes) {
    V32 sum = hn::Zero(d);
    for (std::int64_t i = 0; i < rows; ++i)
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(Narrow(), top + i * stride + x)));
    const V32 weighed = hn::Mul(sum, weights);
    hn::StoreU(anew ? weighed : hn::Add(weighed, hn::LoadU(d, sums + x)), d, sums + x);
  }
  for (; x < columns; ++x) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += top[i * stride + x];
    sums[x] = (anew ? 0 : sums[x]) + weight * sum;
  }
}

// The sums of `columns` columns over the rows that row y of the output covers, in units of height.
void sum_rows(const Plane16& plane, std::int64_t y, std::int64_t column, std::int64_t columns,
              std::uint32_t* sums) {
  const AxisTable& table = plane.tables.down;
  std::int64_t row = table.source[y];
  const std::int64_t last = table.source[y + 1];  // the row that the lower edge lies in
  const auto unit = static_cast<std::uint32_t>(plane.down.in_pixel);
  const auto before = static_cast<std::uint32_t>(table.share[y]);
  const auto after = static_cast<std::uint32_t>(table.share[y + 1]);
  if (row == last) {
    add_rows(plane, row, row + 1, after - before, true, column, columns, sums);
    return;
  }
  bool anew = true;
  if (before > 0) {
    add_rows(plane, row, row + 1, unit - before, true, column, columns, sums);
    ++row;
    anew = false;
  }
  for (; row < last; row += kRowGroup, anew = false)
    add_rows(plane, row, std::min(row + kRowGroup, last), unit, anew, column, columns, sums);
  if (after > 0) add_rows(plane, last, last + 1, after, false, column, columns, sums);
}

void area_plane(const Plane16& plane) {
  alignas(64) std::uint32_t sums[kAreaChunk];
  ColumnSummer<Sample16> summer(plane);
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    summer.start_row();
    for (std::int64_t first = 0; first < plane.in.width; first += kAreaChunk) {
      const std::int64_t end = std::min(plane.in.width, first + kAreaChunk);
      sum_rows(plane, y, first, end - first, sums);
      summer.add(sums, first, end, plane.out.width, plane.to(y));
    }
  }
}

void resize16_rows(const StageCall<Host>& call, const Band& band) {
  const FrameType& in = call.in.type;
  const FrameType& out = call.out.type;
  const ResizeMethod method = ResizeParameters(call.parameters).method;
  for (int c = 0; c < out.channels(); ++c) {
    const std::size_t number = plane_of_channel(out, c);
    const Plane16 plane{call.in.plane<Sample16>(number),
                        call.out.plane<Sample16>(number),
                        band,
                        resize_tables(call.prepared.as<std::int32_t>(), out.width, out.height),
                        area_units({in.width, out.width}),
                        area_units({in.height, out.height})};
    if (method == ResizeMethod::nearest) {
      nearest_plane(plane);
    } else if (in.width == 2 * out.width && in.height == 2 * out.height) {
      halve_plane(plane);
    } else if (method == ResizeMethod::linear) {
      linear_plane(plane);
    } else if (fits_column_sums(plane)) {
      area_plane(plane);
    } else {
      huge_area_plane(plane);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(resize16_rows);

void resize16_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(resize16_rows)(call, band);
}

}  // namespace imgpipe
#endif

// resize in SIMD, where whole rows are worked on; pixels that are picked by a table are picked one by one.
//
//   linear    a row of the input is blended along itself once, into 16 bits a pixel, and kept until the next
//             row of the output; two such rows make a row of the output, a vector at a time.
//   area      rows are summed along columns first, a vector at a time; then columns, once a row of the
//             output.
//   nearest   picked; a row that comes from the same row as the one above is a copy of it.
//
// Halving both sides is the same for linear and area, and all vectors.
#include <algorithm>
#include <cstring>

#include "kernels/resize/host_plane.h"
#include "kernels/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef IMGPIPE_RESIZE_PLANE
#define IMGPIPE_RESIZE_PLANE
namespace imgpipe {
namespace {

constexpr std::int64_t kLinearChunk = 4096;  // columns of the output: two rows of them take 16 KiB
constexpr std::int64_t kAreaChunk = 4096;    // columns of the input: their sums take 16 KiB
// Rows that are summed in 16 bits before they are added to the rest; few enough for the processor to follow.
constexpr std::int64_t kRowGroup = 16;

// The value of a place between two columns, times 256, which 16 bits hold.
inline std::uint16_t blended(int left, int right, int share) {
  return static_cast<std::uint16_t>((left << kLinearBits) + (right - left) * share);
}

// Columns first..end-1 of the output. `last`: the row's last pixel; behind it is none to blend it with.
inline void blend_columns(const Sample* row, std::int64_t last, const AxisTable& table, std::int64_t first,
                          std::int64_t end, std::uint16_t* to) {
  while (end > first && table.source[end - 1] == last) {
    --end;
    to[end - first] = blended(row[last], 0, 0);
  }
  for (std::int64_t x = first; x < end; ++x) {
    const Sample* at = row + table.source[x];
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
using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using D32 = hn::Repartition<std::uint32_t, D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// ---- linear -----------------------------------------------------------------------------------------

// Of 32 bits' products the upper and the lower byte of the blended values apart, 16 bits each:
//   upper = sum of w (v >> 8), lower = sum of w (v & 255);  (256 upper + lower + 2^15) >> 16
HWY_INLINE V16 blend_rows_vector(V16 first, V16 second, V16 share) {
  const D16 d;
  const V16 bytes = hn::Set(d, 0xFF);
  const V16 first_upper = hn::ShiftRight<8>(first);
  const V16 first_lower = hn::And(first, bytes);
  const V16 upper =
      hn::Add(hn::ShiftLeft<8>(first_upper), hn::Mul(hn::Sub(hn::ShiftRight<8>(second), first_upper), share));
  const V16 lower =
      hn::Add(hn::ShiftLeft<8>(first_lower), hn::Mul(hn::Sub(hn::And(second, bytes), first_lower), share));
  return hn::ShiftRight<8>(hn::Add(hn::Add(upper, hn::ShiftRight<8>(lower)), hn::Set(d, 128)));
}

void blend_rows(const std::uint16_t* first, const std::uint16_t* second, int share, std::int64_t count,
                Sample* to) {
  const D16 d;
  const hn::Rebind<std::uint8_t, D16> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V16 shares = hn::Set(d, static_cast<std::uint16_t>(share));
  std::int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const V16 value = blend_rows_vector(hn::LoadU(d, first + x), hn::LoadU(d, second + x), shares);
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(hn::RebindToSigned<D16>(), value)), narrow, to + x);
  }
  for (; x < count; ++x) {
    to[x] = linear_rounded(static_cast<std::uint32_t>(kLinearOne - share) * first[x] +
                           static_cast<std::uint32_t>(share) * second[x]);
  }
}

// Two rows of the input, blended along themselves; each is made when it is first asked for.
class BlendedRows {
 public:
  const std::uint16_t* row(const ResizePlane<Sample>& plane, std::int64_t source, std::int64_t first,
                           std::int64_t end) {
    const auto slot = static_cast<std::size_t>(source % 2);
    if (holds_[slot] != source) {
      blend_columns(plane.from(source), plane.in.width - 1, plane.tables.across, first, end, values_[slot]);
      holds_[slot] = source;
    }
    return values_[slot];
  }

 private:
  std::int64_t holds_[2] = {-1, -1};
  alignas(64) std::uint16_t values_[2][kLinearChunk];
};

void linear_plane(const ResizePlane<Sample>& plane) {
  for (std::int64_t first = 0; first < plane.out.width; first += kLinearChunk) {
    const std::int64_t end = std::min(plane.out.width, first + kLinearChunk);
    BlendedRows rows;
    for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
      const std::int64_t source = plane.tables.down.source[y];
      const int share = plane.tables.down.share[y];
      const std::uint16_t* upper = rows.row(plane, source, first, end);
      const std::uint16_t* lower = share > 0 ? rows.row(plane, source + 1, first, end) : upper;
      blend_rows(upper, lower, share, end - first, plane.to(y) + first);
    }
  }
}

// ---- halves -----------------------------------------------------------------------------------------

// Of a vector of neighbours.
HWY_INLINE V16 pair_sums(const Sample* at) {
  const D16 d;
  const V16 both = hn::BitCast(d, hn::LoadU(D8(), at));
  return hn::Add(hn::And(both, hn::Set(d, 0xFF)), hn::ShiftRight<8>(both));
}

void halve_row(const Sample* upper, const Sample* lower, std::int64_t width, Sample* to) {
  const D16 d;
  const hn::Rebind<std::uint8_t, D16> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const V16 sum = hn::Add(hn::Add(pair_sums(upper + 2 * x), pair_sums(lower + 2 * x)), hn::Set(d, 2));
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(hn::RebindToSigned<D16>(), hn::ShiftRight<2>(sum))), narrow,
               to + x);
  }
  for (; x < width; ++x) {
    const int sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
    to[x] = static_cast<Sample>((sum + 2) / 4);
  }
}

void halve_plane(const ResizePlane<Sample>& plane) {
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y)
    halve_row(plane.from(2 * y), plane.from(2 * y + 1), plane.out.width, plane.to(y));
}

// ---- area -------------------------------------------------------------------------------------------

HWY_INLINE void add_weighted(V16 values, V32 weight, bool anew, std::uint32_t* sums) {
  const D32 d;
  const hn::Half<D16> half;
  const auto lanes = hn::Lanes(d);
  const V32 lower = hn::Mul(hn::PromoteTo(d, hn::LowerHalf(half, values)), weight);
  const V32 upper = hn::Mul(hn::PromoteTo(d, hn::UpperHalf(half, values)), weight);
  hn::StoreU(anew ? lower : hn::Add(lower, hn::LoadU(d, sums)), d, sums);
  hn::StoreU(anew ? upper : hn::Add(upper, hn::LoadU(d, sums + lanes)), d, sums + lanes);
}

// Adds rows first..end-1, each `weight` times, or, if `anew`, stores that. At most kRowGroup rows.
void add_rows(const ResizePlane<Sample>& plane, std::int64_t first, std::int64_t end, std::uint32_t weight,
              bool anew, std::int64_t column, std::int64_t columns, std::uint32_t* sums) {
  const D16 d;
  const hn::Rebind<std::uint8_t, D16> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V32 weights = hn::Set(D32(), weight);
  const Sample* top = plane.from(first) + column;
  const std::int64_t stride = plane.in.stride;
  const std::int64_t rows = end - first;
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes) {
    V16 sum = hn::Zero(d);
    for (std::int64_t i = 0; i < rows; ++i)
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(narrow, top + i * stride + x)));
    add_weighted(sum, weights, anew, sums + x);
  }
  for (; x < columns; ++x) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += top[i * stride + x];
    sums[x] = (anew ? 0 : sums[x]) + weight * sum;
  }
}

// The sums of `columns` columns over the rows that row y of the output covers, in units of height.
void sum_rows(const ResizePlane<Sample>& plane, std::int64_t y, std::int64_t column, std::int64_t columns,
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

void area_plane(const ResizePlane<Sample>& plane) {
  alignas(64) std::uint32_t sums[kAreaChunk];
  ColumnSummer<Sample> summer(plane);
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    summer.start_row();
    for (std::int64_t first = 0; first < plane.in.width; first += kAreaChunk) {
      const std::int64_t end = std::min(plane.in.width, first + kAreaChunk);
      sum_rows(plane, y, first, end - first, sums);
      summer.add(sums, first, end, plane.out.width, plane.to(y));
    }
  }
}

void resize_rows(const StageCall<Host>& call, const Band& band) {
  const FrameType& in = call.in.type;
  const FrameType& out = call.out.type;
  const ResizeMethod method = ResizeParameters(call.parameters).method;
  for (int c = 0; c < out.channels(); ++c) {
    const std::size_t number = plane_of_channel(out, c);
    const ResizePlane<Sample> plane{call.in.plane<Sample>(number),
                                    call.out.plane<Sample>(number),
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

HWY_EXPORT(resize_rows);

void resize_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(resize_rows)(call, band);
}

}  // namespace imgpipe
#endif

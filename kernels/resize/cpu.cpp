// resize in SIMD where whole rows are processed; pixels selected through a table are read one at a time,
// except by linear.
//
//   linear    and halving both sides: kernels/resize/linear-inl.h
//   area      sums rows vertically first, a vector at a time; then horizontally, once per row of the output.
//   nearest   selects pixels; a row with the same source row as the one above is copied from it.
#include <algorithm>

#include "kernels/resize/host_plane.h"
#include "kernels/resize/resize.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/resize/linear-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr std::int64_t kAreaChunk = 4096;  // input columns; their sums take 16 KiB
// Rows that are summed before they are weighted: few enough for 16-bit sums and for the prefetcher.
constexpr std::int64_t kRowGroup = 16;

// ---- area -------------------------------------------------------------------------------------------

HWY_INLINE void add_weighted(V32 values, V32 weight, bool anew, std::uint32_t* sums) {
  const D32 d;
  const V32 weighed = hn::Mul(values, weight);
  hn::StoreU(anew ? weighed : hn::Add(weighed, hn::LoadU(d, sums)), d, sums);
}

HWY_INLINE void add_weighted(V16 values, V32 weight, bool anew, std::uint32_t* sums) {
  const D32 d;
  const hn::Half<D16> half;
  add_weighted(hn::PromoteTo(d, hn::LowerHalf(half, values)), weight, anew, sums);
  add_weighted(hn::PromoteTo(d, hn::UpperHalf(half, values)), weight, anew, sums + hn::Lanes(d));
}

// Adds up to kRowGroup rows first..end-1, times `weight`, to `sums`, or overwrites `sums` if `anew`.
template <class T>
void add_rows(const ResizePlane<T>& plane, std::int64_t first, std::int64_t end, std::uint32_t weight,
              bool anew, std::int64_t column, std::int64_t columns, std::uint32_t* sums) {
  const typename Pairs<T>::D d;
  const std::int64_t lanes = lanes_of(d);
  const V32 weights = hn::Set(D32(), weight);
  const T* top = plane.from(first) + column;
  const std::int64_t stride = plane.in.stride;
  const std::int64_t rows = end - first;
  std::int64_t x = 0;
  for (; x + lanes <= columns; x += lanes) {
    auto sum = hn::Zero(d);
    for (std::int64_t i = 0; i < rows; ++i) sum = hn::Add(sum, load_as(d, top + i * stride + x));
    add_weighted(sum, weights, anew, sums + x);
  }
  for (; x < columns; ++x) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < rows; ++i) sum += top[i * stride + x];
    sums[x] = (anew ? 0 : sums[x]) + weight * sum;
  }
}

// Sums each of `columns` columns over the rows that row y of the output covers, in units of height.
template <class T>
void sum_rows(const ResizePlane<T>& plane, std::int64_t y, std::int64_t column, std::int64_t columns,
              std::uint32_t* sums) {
  const AxisTable& table = plane.tables.down;
  std::int64_t row = table.source[y];
  const std::int64_t last = table.source[y + 1];  // the row that contains the lower edge
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

template <class T>
void area_plane(const ResizePlane<T>& plane) {
  alignas(64) std::uint32_t sums[kAreaChunk];
  ColumnSummer<T> summer(plane);
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    summer.start_row();
    for (std::int64_t first = 0; first < plane.in.width; first += kAreaChunk) {
      const std::int64_t end = std::min(plane.in.width, first + kAreaChunk);
      sum_rows(plane, y, first, end - first, sums);
      summer.add(sums, first, end, plane.out.width, plane.to(y));
    }
  }
}

template <class T, int Step>
void resize_plane(const ResizePlane<T>& plane, ResizeMethod method, bool halves) {
  if (method == ResizeMethod::nearest) {
    nearest_plane(plane);
  } else if (halves) {
    halve_plane<T, Step>(plane);
  } else if (method == ResizeMethod::linear) {
    Linear<T, Step>::plane(plane);
  } else if (fits_column_sums(plane)) {
    area_plane(plane);
  } else {
    huge_area_plane(plane);
  }
}

template <class T>
void resize_planes(const StageCall<Host>& call, const Band& band) {
  const FrameType& in = call.in.type;
  const FrameType& out = call.out.type;
  const ResizeMethod method = ResizeParameters(call.parameters).method;
  const bool halves = in.width == 2 * out.width && in.height == 2 * out.height;
  const int planes = in.layout == Layout::interleaved ? 1 : out.channels();
  for (int c = 0; c < planes; ++c) {
    const std::size_t number = plane_of_channel(out, c);
    const ResizePlane<T> plane{call.in.plane<T>(number),
                               call.out.plane<T>(number),
                               band,
                               resize_tables(call.table.as<std::int32_t>(), out.width, out.height),
                               area_units({in.width, out.width}),
                               area_units({in.height, out.height})};
    plane.in.channels == kMaxStep ? resize_plane<T, kMaxStep>(plane, method, halves)
                                  : resize_plane<T, 1>(plane, method, halves);
  }
}

void resize_rows(const StageCall<Host>& call, const Band& band) {
  if (is_filter(ResizeParameters(call.parameters).method)) {
    resize_filter_cpu(call, band);
    return;
  }
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { resize_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(resize)
#endif

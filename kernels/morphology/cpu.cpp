#include <algorithm>
#include <vector>

#include "kernels/morphology/morphology.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/morphology/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/window_extremes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

void erode_rows(const StageCall<Host>& call, const Band& band) {
  find_extremes(call, band, window_radius(call.parameters),
                [](auto a, auto b) HWY_ATTR { return hn::Min(a, b); });
}

void dilate_rows(const StageCall<Host>& call, const Band& band) {
  find_extremes(call, band, window_radius(call.parameters),
                [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
}

// Pixels of a tile, whose first pass also computes the pixels within the radius around it.
constexpr std::int64_t kTileColumns = 1024, kTileRows = 256;

// Runs one pass of a top hat: `least` erodes, otherwise dilates. `in` and `out` have the same columns.
template <class T>
HWY_NOINLINE void run_pass(bool least, int radius, const Plane<const T, Host>& in, const Plane<T, Host>& out,
                           std::int64_t height, const Band& band, const RowRange& columns) {
  const auto run = [&](const auto& extreme) HWY_ATTR {
    WindowExtremes<T, std::remove_cvref_t<decltype(extreme)>> extremes(radius, extreme);
    extremes.run(in, out, height, band, columns.first, columns.end);
  };
  least ? run([](auto a, auto b) HWY_ATTR { return hn::Min(a, b); })
        : run([](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
}

// Replaces the result of both passes by its difference from the image.
template <class T>
HWY_NOINLINE void subtract_row(bool white, const T* image, std::int64_t count, T* filtered) {
  const hn::ScalableTag<T> d;
  std::int64_t x = 0;
  for (; x + lanes_of(d) <= count; x += lanes_of(d)) {
    const auto v = hn::LoadU(d, image + x), other = hn::LoadU(d, filtered + x);
    hn::StoreU(white ? hn::Sub(v, other) : hn::Sub(other, v), d, filtered + x);
  }
  for (; x < count; ++x)
    filtered[x] = static_cast<T>(white ? image[x] - filtered[x] : filtered[x] - image[x]);
}

template <class T>
void top_hat_plane(const StageCall<Host>& call, const Band& band, const Plane<const T, Host>& in,
                   const Plane<T, Host>& out) {
  const int radius = window_radius(call.parameters);
  const bool white = top_hat_kind(call.parameters) == TopHat::white;
  const std::int64_t height = call.in.type.height, width = in.width;
  std::vector<T> samples;
  for (std::int64_t y = band.first; y < band.end; y += kTileRows) {
    const Band tile{y, std::min(band.end, y + kTileRows), band.in_top, band.out_top};
    const RowRange rows = rows_within(height, radius, {tile.first, tile.end});
    for (std::int64_t x = 0; x < width; x += kTileColumns) {
      const RowRange columns{x, std::min(width, x + kTileColumns)};
      const RowRange around = rows_within(width, radius, columns);
      // A cut through the image is as far from the tile as the results of both passes reach.
      const RowRange seen = rows_within(width, 2 * radius, columns);
      samples.resize(static_cast<std::size_t>(rows.count() * seen.count()));
      const Plane<T, Host> half{samples.data(), seen.count(), rows.count(), seen.count()};
      const Plane<const T, Host> source{in.data + seen.first, seen.count(), in.height, in.stride};
      const Plane<T, Host> result{out.data + around.first, around.count(), out.height, out.stride};
      run_pass<T>(white, radius, source, half, height, {rows.first, rows.end, band.in_top, rows.first},
                  {around.first - seen.first, around.end - seen.first});
      run_pass<T>(!white, radius,
                  {half.data + around.first - seen.first, around.count(), half.height, half.stride}, result,
                  height, {tile.first, tile.end, rows.first, band.out_top},
                  {columns.first - around.first, columns.end - around.first});
      for (std::int64_t row = tile.first; row < tile.end; ++row)
        subtract_row(white, in.row(row - band.in_top) + x, columns.count(), out.row(row - band.out_top) + x);
    }
  }
}

void tophat_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR {
    for_color_planes<T>(call,
                        [&](const auto& in, const auto& out) { top_hat_plane<T>(call, band, in, out); });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(erode)
IMGPIPE_DISPATCH(dilate)
IMGPIPE_DISPATCH(tophat)
#endif

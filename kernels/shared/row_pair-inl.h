// 3x3 windows in registers, for Highway files, after hwy/highway.h; included once per instruction set. Two
// rows are computed together, because their windows share two rows:
//
//   rows[0]                       x-1 x x+1
//   rows[1], rows[2]              x-1 x x+1   for both
//   rows[3]                       x-1 x x+1
//
// Edge pixels are repeated beyond the border. The next sample of a channel is `step` samples away: 1 in
// planes, 3 in rows of RGB.
//
// median, 15 MP, one thread of an EPYC (Zen 4), 2026-11-26: 8 bits 1.59 ms, 16 bits 3.38; without prefetch
// 1.91 and 3.87; vectors that begin at 1 + i * lanes 1.64 and 3.92; sorted columns in memory 3.11 and 7.78.
#if defined(IMGPIPE_KERNELS_ROW_PAIR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_ROW_PAIR_INL_H
#undef IMGPIPE_KERNELS_ROW_PAIR_INL_H
#else
#define IMGPIPE_KERNELS_ROW_PAIR_INL_H
#endif

#include <algorithm>

#include "kernels/shared/vectors-inl.h"
#include "kernels/shared/window.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Window: column(v) prepares the three vectors of a column, in any order; result(v) computes the window from
// nine: the first vectors of its three columns, the second ones, and the third ones.
template <class T, class Window>
struct RowPair {
  const T* rows[4];
  T* out[2];
  std::int64_t ahead, out_ahead;  // samples from a row to the next
  std::int64_t step;
  Window window;

  // Computes a vector of either row; `left` and `right` are the first samples on either side of x.
  template <class D>
  HWY_INLINE void vectors(D d, std::int64_t left, std::int64_t x, std::int64_t right) const {
    const std::int64_t columns[3] = {left, x, right};
    hn::Vec<D> windows[2][9];
    for (int i = 1; i <= 2; ++i) {
      hwy::Prefetch(rows[3] + i * ahead + x);
      hwy::Prefetch(out[1] + i * out_ahead + x);
    }
    for (int k = 0; k < 3; ++k) {
      const auto second = hn::LoadU(d, rows[1] + columns[k]);
      const auto third = hn::LoadU(d, rows[2] + columns[k]);
      for (int i = 0; i < 2; ++i) {
        // The compiler executes the first operation once for both rows.
        hn::Vec<D> column[3] = {second, third, hn::LoadU(d, rows[3 * i] + columns[k])};
        window.column(column);
        for (int r = 0; r < 3; ++r) windows[i][r * 3 + k] = column[r];
      }
    }
    for (int i = 0; i < 2; ++i) hn::StoreU(window.result(windows[i]), d, out[i] + x);
  }

  // Computes the columns between the first and the last one, in vectors that may overlap.
  template <class D>
  HWY_INLINE void inner_columns(D d, std::int64_t samples) const {
    const std::int64_t lanes = lanes_of(d);
    const std::int64_t last = samples - step - lanes;
    const auto at = [&](std::int64_t x) HWY_ATTR { vectors(d, x - step, x, x + step); };
    if (step <= last) {
      at(step);
      for (std::int64_t x = std::max(step, lanes); x < last; x += lanes) at(x);
      at(last);
    } else if constexpr (hn::MaxLanes(D()) > 1) {
      inner_columns(hn::CappedTag<T, (hn::MaxLanes(D()) + 3) / 4>(), samples);
    }
  }

  HWY_NOINLINE void compute(std::int64_t samples) const {
    const hn::CappedTag<T, 1> one;
    inner_columns(hn::ScalableTag<T>(), samples);
    const std::int64_t last = samples - step;
    for (std::int64_t c = 0; c < step; ++c) {
      vectors(one, c, c, std::min(step, last) + c);
      vectors(one, std::max<std::int64_t>(0, last - step) + c, last + c, last + c);
    }
  }
};

// Computes the band's rows of an image of `height` rows.
template <class T, class Window>
void compute_3x3(const Plane<const T, Host>& in, const Plane<T, Host>& out, std::int64_t height,
                 const Band& band, const Window& window) {
  const auto row = [&](std::int64_t y) { return in.row(replicated(y, height) - band.in_top); };
  for (std::int64_t y = band.first; y < band.end; y += 2) {
    const bool alone = y + 1 == band.end;  // computes the row twice
    const RowPair<T, Window> pair{{row(y - 1), row(y), row(y + 1), row(alone ? y - 1 : y + 2)},
                                  {out.row(y - band.out_top), out.row((alone ? y : y + 1) - band.out_top)},
                                  in.stride,
                                  out.stride,
                                  in.channels,
                                  window};
    pair.compute(in.row_samples());
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

// median in SIMD. Windows above 5x5: bisection (bisection-inl.h). 3x3 and 5x5: exchanges (network.h) on a
// vector of pixels at a time. Each column of samples is sorted before the medians of the sorted columns are
// found.
//
// 3x3: everything stays in registers. Two rows are computed together, because their windows share two rows:
//
//   rows[0]                        x-1 x x+1
//   rows[1], rows[2]   exchanged   x-1 x x+1   for both
//   rows[3]                        x-1 x x+1
//
// 5x5: each column is sorted once for all windows that contain it. For chunks of kChunk columns:
//
//   ranks[0]   the least of each column's 5 samples      pixel x uses x-2 ... x+2 of every rank
//   ...
//   ranks[4]   the greatest
//
// Beyond the image's left and right edges, the ranks of its first and last column repeat.
#include <algorithm>
#include <utility>

#include "kernels/median/median.h"
#include "kernels/median/network.h"
#include "kernels/shared/window.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/median/bisection-inl.h"
#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE void exchange(V& low, V& high) {
  const V lesser = hn::Min(low, high);
  high = hn::Max(low, high);
  low = lesser;
}

// Executes all exchanges; the compiler removes operations whose results are not read.
template <const auto& Exchanges, class V, std::size_t... I>
HWY_INLINE void exchange_all(V* v, std::index_sequence<I...>) {
  (exchange(v[Exchanges[I].low], v[Exchanges[I].high]), ...);
}
template <const auto& Exchanges, class V>
HWY_INLINE void exchange_all(V* v) {
  exchange_all<Exchanges>(v, std::make_index_sequence<Exchanges.size()>());
}

// 15 MP, one thread of an EPYC (Zen 4), 2026-11-26: 8 bits 1.59 ms, 16 bits 3.38; without prefetch 1.91 and
// 3.87; vectors that begin at 1 + i * lanes 1.64 and 3.92; sorted columns in memory 3.11 and 7.78.
template <class T>
struct RowPair {
  using Network = MedianNetwork<1>;
  const T* rows[4];
  T* out[2];
  std::int64_t ahead, out_ahead;  // samples from a row to the next

  // Computes a vector of either row; `left` and `right` are the first columns on either side of x.
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
        // The compiler executes the first exchange once for both rows.
        hn::Vec<D> column[3] = {second, third, hn::LoadU(d, rows[3 * i] + columns[k])};
        exchange_all<Network::kColumn>(column);
        for (int r = 0; r < 3; ++r) windows[i][r * 3 + k] = column[r];
      }
    }
    for (int i = 0; i < 2; ++i) {
      exchange_all<Network::kMiddle>(windows[i]);
      hn::StoreU(windows[i][Network::kResult], d, out[i] + x);
    }
  }

  // Computes the columns between the first and the last one, in vectors that may overlap.
  template <class D>
  HWY_INLINE void inner_columns(D d, std::int64_t width) const {
    const std::int64_t lanes = lanes_of(d);
    const auto at = [&](std::int64_t x) HWY_ATTR { vectors(d, x - 1, x, x + 1); };
    if (lanes + 2 <= width) {
      at(1);
      for (std::int64_t x = lanes; x + lanes < width; x += lanes) at(x);
      at(width - 1 - lanes);
    } else if constexpr (hn::MaxLanes(D()) > 1) {
      inner_columns(hn::CappedTag<T, (hn::MaxLanes(D()) + 3) / 4>(), width);
    }
  }

  HWY_NOINLINE void compute(std::int64_t width) const {
    const hn::CappedTag<T, 1> one;
    const std::int64_t last = width - 1;
    inner_columns(hn::ScalableTag<T>(), width);
    vectors(one, 0, 0, std::min<std::int64_t>(1, last));
    vectors(one, std::max<std::int64_t>(0, last - 1), last, last);
  }

  static void planes(const StageCall<Host>& call, const Band& band) {
    const FrameType& type = call.in.type;
    for_color_planes<T>(call, [&](const auto& in, const auto& out) {
      const auto row = [&](std::int64_t y) { return in.row(replicated(y, type.height) - band.in_top); };
      for (std::int64_t y = band.first; y < band.end; y += 2) {
        const bool alone = y + 1 == band.end;  // computes the row twice
        const RowPair pair{{row(y - 1), row(y), row(y + 1), row(alone ? y - 1 : y + 2)},
                           {out.row(y - band.out_top), out.row((alone ? y : y + 1) - band.out_top)},
                           in.stride,
                           out.stride};
        pair.compute(type.width);
      }
    });
  }
};

// Space after a chunk's columns, for vectors that extend beyond the last one.
constexpr std::size_t kVectorPadding = 256;

template <class T>
struct Median5 {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  // The ranks of a chunk, 20 KiB, stay in the L1 cache.
  static constexpr std::int64_t kChunk = 4096 / static_cast<std::int64_t>(sizeof(T));

  // Column x of the chunk is of[r][x + kRadius].
  struct Ranks {
    alignas(64) T of[kTaps][static_cast<std::size_t>(kChunk + kTaps - 1) + kVectorPadding];
  };

  // Sorts each of the first `columns` columns of the rows; stores the results in the ranks, starting at
  // position `at`.
  static HWY_NOINLINE void sort_columns(const T* const* rows, std::int64_t ahead, std::int64_t columns,
                                        Ranks& ranks, std::int64_t at) {
    for_columns<kTaps>(D(), rows, ahead, columns, [&](std::int64_t x, auto& v) HWY_ATTR {
      exchange_all<MedianNetwork<kRadius>::kColumn>(v);
      for (int r = 0; r < kTaps; ++r) hn::StoreU(v[r], D(), ranks.of[r] + at + x);
    });
  }

  static HWY_INLINE V median_vector(const Ranks& ranks, std::int64_t x) {
    V v[kTaps * kTaps];
    for (int r = 0; r < kTaps; ++r) {
      for (int k = 0; k < kTaps; ++k) v[r * kTaps + k] = hn::LoadU(D(), ranks.of[r] + x + k);
    }
    exchange_all<MedianNetwork<kRadius>::kMiddle>(v);
    return v[MedianNetwork<kRadius>::kResult];
  }

  static HWY_NOINLINE void find_medians(const Ranks& ranks, std::int64_t columns, T* out) {
    store_row(D(), columns, out, [&](std::int64_t x) HWY_ATTR { return median_vector(ranks, x); });
  }

  // Computes columns first..end-1 of a row, given its window's rows.
  static void chunk(const T* const* rows, std::int64_t ahead, std::int64_t first, std::int64_t end,
                    std::int64_t width, Ranks& ranks, T* out) {
    const std::int64_t from = std::max<std::int64_t>(0, first - kRadius);
    const std::int64_t to = std::min(width, end + kRadius);
    const T* at[kTaps];
    for (int i = 0; i < kTaps; ++i) at[i] = rows[i] + from;
    sort_columns(at, ahead, to - from, ranks, from - first + kRadius);
    for (auto& rank : ranks.of) {
      for (std::int64_t x = first - kRadius; x < from; ++x) rank[x - first + kRadius] = rank[kRadius];
      for (std::int64_t x = to; x < end + kRadius; ++x)
        rank[x - first + kRadius] = rank[width - 1 - first + kRadius];
    }
    find_medians(ranks, end - first, out + first);
  }

  static void planes(const StageCall<Host>& call, const Band& band) {
    const FrameType& type = call.in.type;
    Ranks ranks;
    for_color_planes<T>(call, [&](const auto& in, const auto& out) {
      for_chunks(type.width, kChunk, band, [&](std::int64_t first, std::int64_t end, std::int64_t y) {
        const T* rows[kTaps];
        for (int i = 0; i < kTaps; ++i)
          rows[i] = in.row(replicated(y + i - kRadius, type.height) - band.in_top);
        chunk(rows, in.stride, first, end, type.width, ranks, out.row(y - band.out_top));
      });
    });
  }
};

template <class T>
void median_planes(const StageCall<Host>& call, const Band& band) {
  switch (MedianParameters(call.parameters).radius) {
    case 1:
      RowPair<T>::planes(call, band);
      break;
    case 2:
      Median5<T>::planes(call, band);
      break;
    default:
      WideMedian<T>::planes(call, band);
  }
}

void median_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { median_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(median)
#endif

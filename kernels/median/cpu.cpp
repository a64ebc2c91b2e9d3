// median in SIMD. Windows above 5x5: bisection (bisection-inl.h). 3x3 and 5x5: exchanges (network.h) on a
// vector of pixels at a time. Each column of samples is sorted before the medians of the sorted columns are
// found.
//
// 3x3: in registers (kernels/shared/row_pair-inl.h). 5x5: each column is sorted once for all windows that
// contain it. For chunks of kChunk samples:
//
//   ranks[0]   the least of each column's 5 samples      pixel x uses x-2 ... x+2 of every rank
//   ...
//   ranks[4]   the greatest
//
// Beyond the image's left and right edges, the ranks of its first and last column repeat.
//
// The neighbours of a sample of interleaved pixels are `step` samples apart, the number of channels.
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
#include "kernels/shared/row_pair-inl.h"
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

// A Window for RowPair: the median.
struct Median3x3 {
  using Network = MedianNetwork<1>;
  template <class V>
  static HWY_INLINE void column(V* v) {
    exchange_all<Network::kColumn>(v);
  }
  template <class V>
  static HWY_INLINE V result(V* v) {
    exchange_all<Network::kMiddle>(v);
    return v[Network::kResult];
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

  // Sample x of the chunk is of[r][x + kRadius * step].
  struct Ranks {
    alignas(64) T of[kTaps][kChunk + static_cast<std::size_t>((kTaps - 1) * kMaxStep) + kVectorPadding];
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

  static HWY_INLINE V median_vector(const Ranks& ranks, std::int64_t x, std::int64_t step) {
    V v[kTaps * kTaps];
    for (int r = 0; r < kTaps; ++r) {
      for (int k = 0; k < kTaps; ++k) v[r * kTaps + k] = hn::LoadU(D(), ranks.of[r] + x + k * step);
    }
    exchange_all<MedianNetwork<kRadius>::kMiddle>(v);
    return v[MedianNetwork<kRadius>::kResult];
  }

  static HWY_NOINLINE void find_medians(const Ranks& ranks, std::int64_t samples, std::int64_t step, T* out) {
    store_row(D(), samples, out, [&](std::int64_t x) HWY_ATTR { return median_vector(ranks, x, step); });
  }

  // Computes samples first..end-1 of a row of `samples`, given its window's rows.
  static void chunk(const T* const* rows, std::int64_t ahead, std::int64_t first, std::int64_t end,
                    std::int64_t samples, std::int64_t step, Ranks& ranks, T* out) {
    const std::int64_t reach = kRadius * step;
    const std::int64_t from = std::max<std::int64_t>(0, first - reach);
    const std::int64_t to = std::min(samples, end + reach);
    const T* at[kTaps];
    for (int i = 0; i < kTaps; ++i) at[i] = rows[i] + from;
    sort_columns(at, ahead, to - from, ranks, from - first + reach);
    for (auto& rank : ranks.of) {
      T* const column = rank + (reach - first);
      for (std::int64_t x = from - 1; x >= first - reach; --x) column[x] = column[x + step];
      for (std::int64_t x = to; x < end + reach; ++x) column[x] = column[x - step];
    }
    find_medians(ranks, end - first, step, out + first);
  }

  static void planes(const StageCall<Host>& call, const Band& band) {
    const FrameType& type = call.in.type;
    Ranks ranks;
    for_color_planes<T>(call, [&](const auto& in, const auto& out) {
      for_chunks(in.row_samples(), kChunk, band, [&](std::int64_t first, std::int64_t end, std::int64_t y) {
        const T* rows[kTaps];
        for (int i = 0; i < kTaps; ++i)
          rows[i] = in.row(replicated(y + i - kRadius, type.height) - band.in_top);
        chunk(rows, in.stride, first, end, in.row_samples(), in.channels, ranks, out.row(y - band.out_top));
      });
    });
  }
};

template <class T>
void median_planes(const StageCall<Host>& call, const Band& band) {
  switch (MedianParameters(call.parameters).radius) {
    case 1:
      for_color_planes<T>(call, [&](const auto& in, const auto& out) {
        compute_3x3(in, out, call.in.type.height, band, Median3x3());
      });
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

// median in SIMD. Each column's samples are sorted once for all windows that contain it; then the median of
// the sorted columns is found (network.h), a vector of pixels at a time. For chunks of kChunk columns:
//
//   ranks[0]   the least of each column's 3 or 5 samples      pixel x uses x-R ... x+R of every rank
//   ...
//   ranks[2R]  the greatest
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

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// The ranks of a chunk stay in the L1 cache. Few long chunks suit the prefetcher: 15 MP, 3x3, one thread of
// an EPYC (Zen 5), 2026-11-26: chunks of 2048 columns 3.28 ms, whole rows of 5120 2.83 ms.
constexpr std::int64_t kRankBytes = 20480;
// Space after a chunk's columns, for vectors that extend beyond the last one.
constexpr std::size_t kVectorPadding = 256;

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

template <class T, int Radius>
struct Median {
  static constexpr int kTaps = 2 * Radius + 1;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t kChunk =
      kRankBytes / (kTaps * static_cast<std::int64_t>(sizeof(T))) / 256 * 256;

  // Column x of the chunk is of[r][x + Radius].
  struct Ranks {
    alignas(64) T of[kTaps][static_cast<std::size_t>(kChunk + kTaps - 1) + kVectorPadding];
  };

  // Sorts each of the first `columns` columns of the rows; stores the results in the ranks, starting at
  // position `at`.
  static HWY_NOINLINE void sort_columns(const T* const* rows, std::int64_t ahead, std::int64_t columns,
                                        Ranks& ranks, std::int64_t at) {
    for_columns<kTaps>(D(), rows, ahead, columns, [&](std::int64_t x, auto& v) HWY_ATTR {
      exchange_all<MedianNetwork<Radius>::kColumn>(v);
      for (int r = 0; r < kTaps; ++r) hn::StoreU(v[r], D(), ranks.of[r] + at + x);
    });
  }

  static HWY_INLINE V median_vector(const Ranks& ranks, std::int64_t x) {
    V v[kTaps * kTaps];
    for (int r = 0; r < kTaps; ++r) {
      for (int k = 0; k < kTaps; ++k) v[r * kTaps + k] = hn::LoadU(D(), ranks.of[r] + x + k);
    }
    exchange_all<MedianNetwork<Radius>::kMiddle>(v);
    return v[MedianNetwork<Radius>::kResult];
  }

  static HWY_NOINLINE void find_medians(const Ranks& ranks, std::int64_t columns, T* out) {
    store_row(D(), columns, out, [&](std::int64_t x) HWY_ATTR { return median_vector(ranks, x); });
  }

  // Computes columns first..end-1 of a row, given its window's rows.
  static void chunk(const T* const* rows, std::int64_t ahead, std::int64_t first, std::int64_t end,
                    std::int64_t width, Ranks& ranks, T* out) {
    const std::int64_t from = std::max<std::int64_t>(0, first - Radius);
    const std::int64_t to = std::min(width, end + Radius);
    const T* at[kTaps];
    for (int i = 0; i < kTaps; ++i) at[i] = rows[i] + from;
    sort_columns(at, ahead, to - from, ranks, from - first + Radius);
    for (auto& rank : ranks.of) {
      for (std::int64_t x = first - Radius; x < from; ++x) rank[x - first + Radius] = rank[Radius];
      for (std::int64_t x = to; x < end + Radius; ++x)
        rank[x - first + Radius] = rank[width - 1 - first + Radius];
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
          rows[i] = in.row(replicated(y + i - Radius, type.height) - band.in_top);
        chunk(rows, in.stride, first, end, type.width, ranks, out.row(y - band.out_top));
      });
    });
  }
};

template <class T>
void median_planes(const StageCall<Host>& call, const Band& band) {
  if (MedianParameters(call.parameters).radius == 1) {
    Median<T, 1>::planes(call, band);
  } else {
    Median<T, 2>::planes(call, band);
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

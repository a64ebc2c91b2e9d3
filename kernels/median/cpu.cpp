// median in SIMD: samples of a column sorted once, for all the windows that it is in, then the middle one of
// the sorted columns (network.h), a vector of pixels at a time. For chunks of kChunk columns:
//
//   ranks[0]   the least of each column's 3 or 5 samples      x-R ... x+R of every rank go into pixel x
//   ...
//   ranks[2R]  the greatest
//
// Beyond the image's left and right end stand the ranks of its first and last column.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/median/median.h"
#include "kernels/median/network.h"
#include "kernels/smooth/window.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/median/cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Columns at a time: the ranks stay in the first cache, at most 20 KiB of 16-bit samples.
constexpr std::int64_t kChunk = 2048;
// Behind them: what a vector reads and writes beyond the last column.
constexpr std::size_t kVectorRoom = 256;

template <class V>
HWY_INLINE void exchange(V& low, V& high) {
  const V lesser = hn::Min(low, high);
  high = hn::Max(low, high);
  low = lesser;
}

// What is not read again the compiler leaves out.
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

  // Column x of the chunk is ranks[r][x + Radius].
  struct Ranks {
    alignas(64) T of[kTaps][static_cast<std::size_t>(kChunk + kTaps - 1) + kVectorRoom];
  };

  static HWY_INLINE void sort_vector(V* v, T* const* to) {
    exchange_all<MedianNetwork<Radius>::kColumn>(v);
    for (int r = 0; r < kTaps; ++r) hn::StoreU(v[r], D(), to[r]);
  }

  // The first `columns` of the rows, to ranks[..][at] and on. The row that comes `ahead` samples behind the
  // last one is asked for early; what a prefetch points at need not exist.
  static HWY_NOINLINE void sort_columns(const T* const* rows, std::int64_t ahead, std::int64_t columns,
                                        Ranks& ranks, std::int64_t at) {
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    V v[kTaps];
    T* to[kTaps];
    for (int r = 0; r < kTaps; ++r) to[r] = ranks.of[r] + at;
    std::int64_t x = 0;
    for (; x + lanes <= columns; x += lanes) {
      hwy::Prefetch(rows[kTaps - 1] + ahead + x);
      for (int i = 0; i < kTaps; ++i) v[i] = hn::LoadU(d, rows[i] + x);
      sort_vector(v, to);
      for (T*& rank : to) rank += lanes;
    }
    if (x == columns) return;
    HWY_ALIGN T ends[kTaps][hn::MaxLanes(d)] = {};
    for (int i = 0; i < kTaps; ++i) {
      std::memcpy(ends[i], rows[i] + x, static_cast<std::size_t>(columns - x) * sizeof(T));
      v[i] = hn::Load(d, ends[i]);
    }
    sort_vector(v, to);
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
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t x = 0;
    for (; x + lanes <= columns; x += lanes) hn::StoreU(median_vector(ranks, x), d, out + x);
    if (x == columns) return;
    HWY_ALIGN T end[hn::MaxLanes(d)];
    hn::Store(median_vector(ranks, x), d, end);
    std::memcpy(out + x, end, static_cast<std::size_t>(columns - x) * sizeof(T));
  }

  // Columns first..end-1 of a row whose window's rows are given.
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

  static void plane(const Plane<const T, Host>& in, const Plane<T, Host>& out, const FrameType& type,
                    const Band& band) {
    Ranks ranks;
    for (std::int64_t first = 0; first < type.width; first += kChunk) {
      const std::int64_t end = std::min(type.width, first + kChunk);
      for (std::int64_t y = band.first; y < band.end; ++y) {
        const T* rows[kTaps];
        for (int i = 0; i < kTaps; ++i)
          rows[i] = in.row(replicated(y + i - Radius, type.height) - band.in_top);
        chunk(rows, in.stride, first, end, type.width, ranks, out.row(y - band.out_top));
      }
    }
  }
};

template <class T>
void median_planes(const StageCall<Host>& call, const Band& band) {
  const int radius = MedianParameters(call.parameters).radius;
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    if (radius == 1) {
      Median<T, 1>::plane(in, out, call.in.type, band);
    } else {
      Median<T, 2>::plane(in, out, call.in.type, band);
    }
  }
}

void median_rows(const StageCall<Host>& call, const Band& band) {
  median_planes<Sample>(call, band);
}

void median16_rows(const StageCall<Host>& call, const Band& band) {
  median_planes<Sample16>(call, band);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(median_rows);
HWY_EXPORT(median16_rows);

void median_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(median_rows)(call, band);
}

void median16_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(median16_rows)(call, band);
}

}  // namespace imgpipe
#endif

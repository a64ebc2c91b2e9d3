// Vectors of samples along a row, shared by the stages' host loops. For Highway files, after
// hwy/highway.h; included once per instruction set.
#if defined(IMGPIPE_KERNELS_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_VECTORS_INL_H
#undef IMGPIPE_KERNELS_VECTORS_INL_H
#else
#define IMGPIPE_KERNELS_VECTORS_INL_H
#endif

#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/shared/dispatch.h"
#include "kernels/shared/float_sample.h"
#include "kernels/stage_call.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using D32 = hn::Repartition<std::uint32_t, D8>;
using D64 = hn::Repartition<std::uint64_t, D8>;
using DFloat = hn::Repartition<float, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using VFloat = hn::Vec<DFloat>;

template <class D>
HWY_INLINE std::int64_t lanes_of(D d) {
  return static_cast<std::int64_t>(hn::Lanes(d));
}

// ---- samples to lanes of their own or of twice their size, and back -----------------------------------

// Loads samples into lanes of D, which may be larger integers or floats; the values are unchanged.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_as(D d, const T* from) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(T)) {
    return hn::LoadU(d, from);
  } else if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(hn::Rebind<T, D>(), from)));
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<T, D>(), from));
  }
}

// Loads the first `count` samples, at least 1 and fewer than the lanes of D; zeros follow. Reads no others.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first_as(D d, const T* from, std::int64_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN T samples[hn::MaxLanes(D())] = {};
  std::memcpy(samples, from, static_cast<std::size_t>(count) * sizeof(T));
  return load_as(d, samples);
#else
  const hn::Rebind<T, D> narrow;
  const auto mask = hn::FirstN(narrow, static_cast<std::size_t>(count));
  const auto v = hn::MaskedLoad(mask, narrow, from);
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(T)) {
    return v;
  } else if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), v));
  } else {
    return hn::PromoteTo(d, v);
  }
#endif
}

// Stores the first `count` lanes, at least 1 and fewer than all.
template <class D>
HWY_INLINE void store_first(D d, hn::Vec<D> v, hn::TFromD<D>* to, std::int64_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> samples[hn::MaxLanes(D())];
  hn::Store(v, d, samples);
  std::memcpy(to, samples, static_cast<std::size_t>(count) * sizeof(*to));
#else
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#endif
}

// ---- stores: store(d, v, to) ----------------------------------------------------------------------------

struct CachedStore {
  template <class D>
  HWY_INLINE void operator()(D d, hn::Vec<D> v, hn::TFromD<D>* to) const {
    hn::StoreU(v, d, to);
  }
};

// Does not read the lines of memory that it writes. `to` must be aligned to the vector.
struct BypassingStore {
  template <class D>
  HWY_INLINE void operator()(D d, hn::Vec<D> v, hn::TFromD<D>* to) const {
    if constexpr (hn::MaxLanes(D()) * sizeof(*to) >= 16) {
      hn::Stream(v, d, to);
    } else {
      hn::StoreU(v, d, to);  // Stream() writes 16 bytes or more
    }
  }
};

// Stores lanes of D as samples; values in larger lanes must fit into a sample.
template <class D, class T, class Store = CachedStore>
HWY_INLINE void store_as(D d, hn::Vec<D> v, T* to, const Store& store = Store()) {
  const hn::RebindToSigned<D> whole;
  const hn::Rebind<T, D> narrow;
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(T)) {
    store(d, v, to);
  } else if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    store(narrow, hn::DemoteTo(narrow, hn::ConvertTo(whole, v)), to);
  } else {
    store(narrow, hn::DemoteTo(narrow, hn::BitCast(whole, v)), to);
  }
}

// Makes every NaN the canonical one, as for a single sample (kernels/shared/float_sample.h).
HWY_INLINE VFloat canonical(VFloat v) {
  return hn::IfThenElse(hn::IsNaN(v), hn::Set(DFloat(), float_of_bits(kNanBits)), v);
}

// Pairs of samples of type T as lanes of twice their size; splitting and joining moves no samples.
template <class T>
struct Pairs {
  static constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  using D = std::conditional_t<kIsWide<T>, D32, D16>;  // lanes of pairs
  using Sum = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using Samples = hn::Repartition<T, D>;

  static HWY_INLINE V even(hn::Vec<Samples> v) {
    return hn::And(hn::BitCast(D(), v), hn::Set(D(), Sum{kLargest<T>}));
  }
  static HWY_INLINE V odd(hn::Vec<Samples> v) { return hn::ShiftRight<kBits>(hn::BitCast(D(), v)); }
  // Both must hold samples.
  static HWY_INLINE hn::Vec<Samples> joined(V even, V odd) {
    return hn::BitCast(Samples(), hn::Or(even, hn::ShiftLeft<kBits>(odd)));
  }
};

// Returns the upper halves of the products.
HWY_INLINE V32 upper_words(V32 v, std::uint32_t factor) {
  const D32 d;
  const V32 factors = hn::Set(d, factor);
  const auto even = hn::MulEven(v, factors);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(D64(), v))), factors);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// ---- along a row --------------------------------------------------------------------------------------

// Bytes to prefetch ahead: the hardware prefetcher stops at the end of a page. One thread of a Xeon (Sapphire
// Rapids), AVX3, contrast of 47 MP of 8 bits, 2026-11-20: 5.6 ms instead of 6.6.
constexpr std::int64_t kAheadBytes = 2048;

// Prefetches the samples kAheadBytes after `at`; unmapped memory is harmless.
template <class T>
HWY_INLINE void prefetch_ahead(const T* at) {
  hwy::Prefetch(at + kAheadBytes / static_cast<std::int64_t>(sizeof(T)));
}

// Calls vector(x) for lanes x..x+lanes-1; the last one ends with the row. few() handles a shorter row.
template <class Vector, class Few>
HWY_INLINE void for_row(std::int64_t width, std::int64_t lanes, const Vector& vector, const Few& few) {
  if (width < lanes) {
    if (width > 0) few();
    return;
  }
  const std::int64_t last = width - lanes;
  for (std::int64_t x = 0; x < last; x += lanes) vector(x);
  vector(last);
}

constexpr int kLineBytes = 64;

// As for_row, for an output row: vector(x, store) stores `lanes` pixels, which fill whole vectors, by
// store(). It bypasses the caches if `bypasses`, but for the lines of memory at the row's ends: lines that
// are written in part by either kind of store are slow. Pixels of `Samples` samples.
template <int Samples, class T, class Vector, class Few>
HWY_INLINE void for_stored_row(const T* out, std::int64_t width, std::int64_t lanes, bool bypasses,
                               const Vector& vector, const Few& few) {
  constexpr int kPixelBytes = Samples * static_cast<int>(sizeof(*out));
  constexpr int kPeriod = kLineBytes / std::gcd(kLineBytes, kPixelBytes);  // pixels from line to line
  const auto cached = [&](std::int64_t x) HWY_ATTR { vector(x, CachedStore()); };
  const auto begins_line = [&](std::int64_t x) {
    return reinterpret_cast<std::uintptr_t>(out + Samples * x) % kLineBytes == 0;
  };
  const std::int64_t step = lanes < kPeriod ? kPeriod : lanes;
  std::int64_t x = lanes;
  while (bypasses && x < lanes + kPeriod && !begins_line(x)) ++x;
  if (!bypasses || x == lanes + kPeriod || width < x + lanes + step)
    return for_row(width, lanes, cached, few);
  for_row(x, lanes, cached, few);
  for (const std::int64_t end = x + (width - lanes - x) / step * step; x < end; x += lanes)
    vector(x, BypassingStore());
  for (; x < width - lanes; x += lanes) cached(x);
  cached(width - lanes);
}

// Stores `count` samples of vector(x); the excess of the last vector is dropped.
template <class D, class Vector>
HWY_INLINE void store_row(D d, std::int64_t count, hn::TFromD<D>* out, const Vector& vector) {
  const std::int64_t lanes = lanes_of(d);
  for (std::int64_t x = 0; x < count; x += lanes) {  // compilers inline a function with one call
    const hn::Vec<D> v = vector(x);
    if (count - x >= lanes) {
      hn::StoreU(v, d, out + x);
    } else {
      store_first(d, v, out + x, count - x);
    }
  }
}

// ---- down the columns of a window ---------------------------------------------------------------------

// Calls vector(x, v) with a vector of D from each of `Rows` rows of `columns` samples; zeros follow the last
// column. Prefetches the row `ahead` samples after the last one; prefetching unmapped memory is harmless.
template <int Rows, class D, class T, class Vector>
HWY_INLINE void for_columns(D d, const T* const* rows, std::int64_t ahead, std::int64_t columns,
                            const Vector& vector) {
  const std::int64_t lanes = lanes_of(d);
  const T* at[Rows];  // stores do not alias these: they stay in registers
  for (int i = 0; i < Rows; ++i) at[i] = rows[i];
  hn::Vec<D> v[Rows];
  for (std::int64_t x = 0; x < columns; x += lanes) {
    if (columns - x >= lanes) {
      hwy::Prefetch(at[Rows - 1] + ahead + x);
      for (int i = 0; i < Rows; ++i) v[i] = load_as(d, at[i] + x);
    } else {
      for (int i = 0; i < Rows; ++i) v[i] = load_first_as(d, at[i] + x, columns - x);
    }
    vector(x, v);
  }
}

// ---- over a band ----------------------------------------------------------------------------------------

// Calls row(first, end, y) for columns first..end-1 of the band's rows, one chunk of columns after the other.
template <class Row>
HWY_INLINE void for_chunks(std::int64_t width, std::int64_t chunk, const Band& band, const Row& row) {
  for (std::int64_t first = 0; first < width; first += chunk) {
    const std::int64_t end = first + chunk < width ? first + chunk : width;
    for (std::int64_t y = band.first; y < band.end; ++y) row(first, end, y);
  }
}

// Calls plane(in, out) for the colour planes in order, or once for interleaved pixels; samples of type T.
template <class T, class PlaneOf>
HWY_INLINE void for_color_planes(const StageCall<Host>& call, const PlaneOf& plane) {
  const int planes = call.in.type.layout == Layout::interleaved ? 1 : call.in.type.color_channels;
  for (int c = 0; c < planes; ++c) {
    const auto number = static_cast<std::size_t>(c);
    plane(call.in.plane<T>(number), call.out.plane<T>(number));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

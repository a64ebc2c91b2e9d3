// Projections in SIMD. A vector of the state stays in registers while all items of the call are added to it.
//
// The median is found bit by bit, from the highest: the number of samples below the result so far with the
// next bit set decides whether the result has that bit. Every column takes the same steps, and none depends
// on the samples: 16 N comparisons for N items of 16 bits.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/projection/projection.h"
#include "kernels/shared/float_environment.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/projection/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr int kMedianVectors = 4;  // of samples, side by side

using DDouble = hn::Repartition<double, D8>;

HWY_INLINE V32 keys_of(V32 bits, bool nan_is_last) {
  const D32 d;
  const hn::RebindToSigned<D32> whole;
  const V32 sign = hn::BitCast(d, hn::ShiftRight<31>(hn::BitCast(whole, bits)));
  const V32 key = hn::Xor(bits, hn::Or(sign, hn::Set(d, 0x80000000U)));
  const auto magnitude = hn::BitCast(whole, hn::And(bits, hn::Set(d, 0x7FFFFFFFU)));
  const auto is_nan = hn::BitCast(d, hn::VecFromMask(whole, hn::Gt(magnitude, hn::Set(whole, 0x7F800000))));
  return nan_is_last ? hn::Or(key, is_nan) : hn::AndNot(is_nan, key);
}

// Loads `count` samples, at most the lanes of D, as integers in the order of the samples.
template <class T, class D>
HWY_INLINE hn::Vec<D> load_keys(D d, const T* from, std::int64_t count, bool nan_is_last) {
  using Stored = std::conditional_t<kIsFloat<T>, std::uint32_t, T>;
  const auto* stored = reinterpret_cast<const Stored*>(from);
  const hn::Vec<D> v = count >= lanes_of(d) ? load_as(d, stored) : load_first_as(d, stored, count);
  if constexpr (kIsFloat<T>) {
    return keys_of(v, nan_is_last);
  } else {
    return v;
  }
}

template <class T>
constexpr auto extreme_lanes() {
  if constexpr (kIsFloat<T>) {
    return D32();
  } else {
    return hn::Repartition<T, D8>();
  }
}

template <class T>
void add_extremes(bool largest, const ProjectedItems& in, std::byte* state) {
  const auto d = extreme_lanes<T>();
  auto* extremes = reinterpret_cast<hn::TFromD<decltype(d)>*>(state);
  for (std::int64_t x = 0; x < in.samples; x += lanes_of(d)) {
    const std::int64_t count = in.samples - x;
    auto v = count >= lanes_of(d) ? hn::LoadU(d, extremes + x) : load_first_as(d, extremes + x, count);
    for (const std::byte* item : in.items) {
      const auto one = load_keys(d, reinterpret_cast<const T*>(item) + x, count, largest);
      v = largest ? hn::Max(v, one) : hn::Min(v, one);
    }
    if (count >= lanes_of(d)) {
      hn::StoreU(v, d, extremes + x);
    } else {
      store_first(d, v, extremes + x, count);
    }
  }
}

template <class T>
void add_integers(const ProjectedItems& in, std::byte* state) {
  const D32 d;
  const D64 wide;
  auto* totals = reinterpret_cast<std::uint64_t*>(state);
  HWY_ALIGN std::uint32_t sums[hn::MaxLanes(D32())];
  for (std::int64_t x = 0; x < in.samples; x += lanes_of(d)) {
    const std::int64_t count = in.samples - x;
    V32 sum = hn::Zero(d);
    for (const std::byte* item : in.items)
      sum = hn::Add(sum, load_keys(d, reinterpret_cast<const T*>(item) + x, count, false));
    hn::Store(sum, d, sums);
    if (count < lanes_of(d)) {
      for (std::int64_t i = 0; i < count; ++i) totals[x + i] += sums[i];
      continue;
    }
    for (std::int64_t i = 0; i < lanes_of(d); i += lanes_of(wide))
      hn::StoreU(hn::Add(hn::LoadU(wide, totals + x + i), load_as(wide, sums + i)), wide, totals + x + i);
  }
}

// The order of additions of each sample is that of the items.
void add_floats(const ProjectedItems& in, std::byte* state) {
  const DDouble d;
  const hn::Rebind<float, DDouble> narrow;
  auto* totals = reinterpret_cast<double*>(state);
  const std::int64_t whole = in.samples - in.samples % lanes_of(d);
  for (std::int64_t x = 0; x < whole; x += lanes_of(d)) {
    auto total = hn::LoadU(d, totals + x);
    for (const std::byte* item : in.items)
      total = hn::Add(total, hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const float*>(item) + x)));
    hn::StoreU(total, d, totals + x);
  }
  for (std::int64_t x = whole; x < in.samples; ++x) {
    for (const std::byte* item : in.items)
      totals[x] += static_cast<double>(reinterpret_cast<const float*>(item)[x]);
  }
}

void add_items(Projection projection, const ProjectedItems& in, std::byte* state) {
  visit_any_sample(in.sample, [&]<class T>(T) HWY_ATTR {
    if (!is_total(projection)) return add_extremes<T>(projection == Projection::max, in, state);
    if constexpr (kIsFloat<T>) {
      add_floats(in, state);
    } else {
      add_integers<T>(in, state);
    }
  });
}

// The middle keys of columns; D has lanes for the keys and for the number of items.
template <class D>
class Middle {
 public:
  using Key = hn::TFromD<D>;
  static constexpr std::size_t kColumns = kMedianVectors * hn::MaxLanes(D());

  HWY_ALIGN Key low[kColumns];
  HWY_ALIGN Key high[kColumns];
  HWY_ALIGN Key largest[kColumns];

  // `keys`: a row of kMedianVectors vectors for each item.
  void find(const Key* keys, std::size_t items, int bits) {
    const D d;
    using V = hn::Vec<D>;
    const std::size_t lanes = hn::Lanes(d), row = kMedianVectors * lanes;
    const V rank = hn::Set(d, static_cast<Key>((items - 1) / 2));
    V found[kMedianVectors];
    for (V& v : found) v = hn::Zero(d);
    for (int bit = bits - 1; bit >= 0; --bit) {
      const V one = hn::Set(d, static_cast<Key>(Key{1} << bit));
      V limit[kMedianVectors], below[kMedianVectors];
      for (int i = 0; i < kMedianVectors; ++i) {
        limit[i] = hn::Or(found[i], one);
        below[i] = hn::Zero(d);
      }
      for (const Key* at = keys; at != keys + items * row; at += row) {
        for (int i = 0; i < kMedianVectors; ++i)
          below[i] = hn::Sub(below[i], hn::VecFromMask(d, hn::Lt(hn::Load(d, at + i * lanes), limit[i])));
      }
      for (int i = 0; i < kMedianVectors; ++i)
        found[i] = hn::IfThenElse(hn::Gt(below[i], rank), found[i], limit[i]);
    }
    const V upper = hn::Set(d, static_cast<Key>(items / 2));
    for (int i = 0; i < kMedianVectors; ++i) {
      V up_to = hn::Zero(d), next = hn::Set(d, static_cast<Key>(~Key{0})), top = hn::Zero(d);
      for (const Key* at = keys + i * lanes; at < keys + items * row; at += row) {
        const V v = hn::Load(d, at);
        const auto is_above = hn::Gt(v, found[i]);
        up_to = hn::Add(up_to, hn::IfThenZeroElse(is_above, hn::Set(d, Key{1})));
        next = hn::Min(next, hn::IfThenElse(is_above, v, next));
        top = hn::Max(top, v);
      }
      hn::Store(found[i], d, low + i * lanes);
      hn::Store(hn::IfThenElse(hn::Gt(up_to, upper), found[i], next), d, high + i * lanes);
      hn::Store(top, d, largest + i * lanes);
    }
  }
};

template <class T, class D>
void find_medians(const ProjectedItems& in, std::byte* scratch, T* out) {
  const D d;
  using Key = hn::TFromD<D>;
  auto* keys = reinterpret_cast<Key*>(scratch);
  const std::int64_t lanes = lanes_of(d), columns = kMedianVectors * lanes;
  Middle<D> middle;
  for (std::int64_t x = 0; x < in.samples; x += columns) {
    Key* to = keys;
    for (const std::byte* bytes : in.items) {
      const T* item = reinterpret_cast<const T*>(bytes) + x;
      for (std::int64_t i = 0; i < columns; i += lanes, to += lanes) {
        const std::int64_t count = in.samples - x - i;
        hn::Store(count > 0 ? load_keys(d, item + i, count, true) : hn::Zero(d), d, to);
      }
    }
    middle.find(keys, in.items.size(), kIsFloat<T> ? 32 : static_cast<int>(8 * sizeof(T)));
    const std::int64_t count = std::min(columns, in.samples - x);
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (kIsFloat<T>) {
        out[x + i] = middle.largest[i] == ~Key{0}
                         ? float_of_bits(kNanBits)
                         : middle_of(float_of_key(middle.low[i]), float_of_key(middle.high[i]));
      } else {
        out[x + i] = middle_of(static_cast<T>(middle.low[i]), static_cast<T>(middle.high[i]));
      }
    }
  }
}

void median_of_items(const ProjectedItems& in, std::byte* scratch, std::byte* out) {
  visit_any_sample(in.sample, [&]<class T>(T) HWY_ATTR {
    // Numbers of items are counted in the lanes of the keys.
    if (kIsFloat<T> || in.items.size() > 0xFFFF) {
      find_medians<T, D32>(in, scratch, reinterpret_cast<T*>(out));
    } else if constexpr (!kIsFloat<T>) {
      find_medians<T, D16>(in, scratch, reinterpret_cast<T*>(out));
    }
  });
}

std::int64_t row_bytes() {
  return kMedianVectors * lanes_of(D8());
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {
HWY_EXPORT(add_items);
HWY_EXPORT(median_of_items);
HWY_EXPORT(row_bytes);

void add_items_cpu(Projection projection, const ProjectedItems& in, std::byte* state) {
  const FloatEnvironment environment;
  HWY_DYNAMIC_DISPATCH(add_items)(projection, in, state);
}

std::int64_t median_scratch_bytes(std::size_t items) {
  return static_cast<std::int64_t>(items) * HWY_DYNAMIC_DISPATCH(row_bytes)();
}

void median_of_items_cpu(const ProjectedItems& in, std::byte* scratch, std::byte* out) {
  const FloatEnvironment environment;
  HWY_DYNAMIC_DISPATCH(median_of_items)(in, scratch, out);
}

}  // namespace imgpipe
#endif

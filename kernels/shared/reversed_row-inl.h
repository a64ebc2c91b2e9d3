// Copies a row's pixels, or reverses them, a vector at a time. For Highway files; included once per
// instruction set.
#if defined(IMGPIPE_KERNELS_REVERSED_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_REVERSED_ROW_INL_H
#undef IMGPIPE_KERNELS_REVERSED_ROW_INL_H
#else
#define IMGPIPE_KERNELS_REVERSED_ROW_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Reverses pixels of `Bytes` (1, 2, 4, 8 or 16) bytes in a vector: its 16-byte blocks, then the pixels in
// each.
template <int Bytes, class V>
HWY_INLINE V reversed_pixels(V v) {
  const hn::DFromV<V> d;
  HWY_ALIGN std::uint8_t from[16];
  for (int i = 0; i < 16; ++i) from[i] = static_cast<std::uint8_t>((15 - i) / Bytes * Bytes + i % Bytes);
  return hn::TableLookupBytes(hn::ReverseBlocks(d, v), hn::LoadDup128(d, from));
}

// Stores three vectors' lanes interleaved, by store(d, v, to).
template <class D, class Store>
HWY_INLINE void store_three(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, const Store& store,
                            hn::TFromD<D>* to) {
  if constexpr (std::is_same_v<Store, CachedStore>) {
    hn::StoreInterleaved3(a, b, c, d, to);
  } else {
    HWY_ALIGN hn::TFromD<D> made[3 * hn::MaxLanes(D())];
    hn::StoreInterleaved3(a, b, c, d, made);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t at = i * hn::Lanes(d);
      store(d, hn::Load(d, made + at), to + at);
    }
  }
}

// Walks a row in whole vectors of `lanes` pixels; the last one ends with the row. Shorter rows go pixel by
// pixel. vector(x, from, store) reverses input pixels from..from+lanes-1 to x..x+lanes-1, as for_stored_row.
template <int Samples, class T, class Vector>
HWY_INLINE void walk_reversed(const T* in, std::int64_t width, std::int64_t lanes, bool bypasses, T* out,
                              const Vector& vector) {
  constexpr std::int64_t kAhead = kAheadBytes / static_cast<std::int64_t>(sizeof(T));
  const auto forwards = [&](std::int64_t x, const auto& store) HWY_ATTR {
    const std::int64_t from = width - x - lanes;
    hwy::Prefetch(in + Samples * from - kAhead);
    vector(x, from, store);
  };
  for_stored_row<Samples>(out, width, lanes, bypasses, forwards, [&] {
    for (std::int64_t x = 0; x < width; ++x)
      std::memcpy(out + x * Samples, in + (width - 1 - x) * Samples, Samples * sizeof(T));
  });
}

template <int Bytes>
void reverse_row_of(const std::byte* in, std::int64_t width, bool bypasses, std::byte* out) {
  const D8 d;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(in);
  auto* const made = reinterpret_cast<std::uint8_t*>(out);
  const auto vector = [&](std::int64_t x, std::int64_t from, const auto& store) HWY_ATTR {
    store(d, reversed_pixels<Bytes>(hn::LoadU(d, bytes + from * Bytes)), made + x * Bytes);
  };
  walk_reversed<Bytes>(bytes, width, lanes_of(d) / Bytes, bypasses, made, vector);
}

template <class T>
void reverse_row_of_three(const std::byte* in, std::int64_t width, bool bypasses, std::byte* out) {
  const hn::ScalableTag<T> d;
  const auto* const samples = reinterpret_cast<const T*>(in);
  auto* const made = reinterpret_cast<T*>(out);
  const auto reversed = [&](auto v) HWY_ATTR {
    return hn::BitCast(d, reversed_pixels<sizeof(T)>(hn::BitCast(D8(), v)));
  };
  const auto vector = [&](std::int64_t x, std::int64_t from, const auto& store) HWY_ATTR {
    auto r = hn::Zero(d);
    auto g = hn::Zero(d);
    auto b = hn::Zero(d);
    hn::LoadInterleaved3(d, samples + 3 * from, r, g, b);
    store_three(d, reversed(r), reversed(g), reversed(b), store, made + 3 * x);
  };
  walk_reversed<3>(samples, width, lanes_of(d), bypasses, made, vector);
}

// `bypasses`: as Band::bypasses_caches.
HWY_INLINE void reverse_row(const std::byte* in, std::int64_t width, int bytes, bool bypasses,
                            std::byte* out) {
  if (bytes == 1) reverse_row_of<1>(in, width, bypasses, out);
  if (bytes == 2) reverse_row_of<2>(in, width, bypasses, out);
  if (bytes == 3) reverse_row_of_three<std::uint8_t>(in, width, bypasses, out);
  if (bytes == 4) reverse_row_of<4>(in, width, bypasses, out);
  if (bytes == 6) reverse_row_of_three<std::uint16_t>(in, width, bypasses, out);
  if (bytes == 8) reverse_row_of<8>(in, width, bypasses, out);
  if (bytes == 12) reverse_row_of_three<std::uint32_t>(in, width, bypasses, out);
  if (bytes == 16) reverse_row_of<16>(in, width, bypasses, out);
}

// Copies a row of bytes. `bypasses`: as Band::bypasses_caches.
HWY_INLINE void copy_row(const std::byte* in, std::int64_t width, bool bypasses, std::byte* out) {
  const D8 d;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(in);
  auto* const made = reinterpret_cast<std::uint8_t*>(out);
  for_stored_row<1>(
      made, width, lanes_of(d), bypasses,
      [&](std::int64_t x, const auto& store) HWY_ATTR {
        prefetch_ahead(bytes + x);
        store(d, hn::LoadU(d, bytes + x), made + x);
      },
      [&] { std::memcpy(out, in, static_cast<std::size_t>(width)); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

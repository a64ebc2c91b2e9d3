// Reverses a row's pixels, a vector at a time. For Highway files; included once per instruction set.
#if defined(IMGPIPE_KERNELS_REVERSED_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_REVERSED_ROW_INL_H
#undef IMGPIPE_KERNELS_REVERSED_ROW_INL_H
#else
#define IMGPIPE_KERNELS_REVERSED_ROW_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

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

// Walks a row in whole vectors of `lanes` pixels; the last one ends with the row. Shorter rows go pixel by
// pixel. vector(x, from) reverses input pixels from..from+lanes-1 to x..x+lanes-1.
template <int Bytes, class Vector>
HWY_INLINE void walk_reversed(const std::byte* in, std::int64_t width, std::byte* out, std::int64_t lanes,
                              const Vector& vector) {
  const auto forwards = [&](std::int64_t x) HWY_ATTR { vector(x, width - x - lanes); };
  for_row(width, lanes, forwards, [&] {
    for (std::int64_t x = 0; x < width; ++x)
      std::memcpy(out + x * Bytes, in + (width - 1 - x) * Bytes, Bytes);
  });
}

template <int Bytes>
void reverse_row_of(const std::byte* in, std::int64_t width, std::byte* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = lanes_of(d) / Bytes;
  walk_reversed<Bytes>(in, width, out, lanes, [&](std::int64_t x, std::int64_t from) HWY_ATTR {
    const auto v = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(in) + from * Bytes);
    hn::StoreU(reversed_pixels<Bytes>(v), d, reinterpret_cast<std::uint8_t*>(out) + x * Bytes);
  });
}

template <class T>
void reverse_row_of_three(const std::byte* in, std::int64_t width, std::byte* out) {
  const hn::ScalableTag<T> d;
  const hn::ScalableTag<std::uint8_t> bytes;
  constexpr int kSampleBytes = static_cast<int>(sizeof(T));
  const auto reversed = [&](auto v) HWY_ATTR {
    return hn::BitCast(d, reversed_pixels<kSampleBytes>(hn::BitCast(bytes, v)));
  };
  walk_reversed<3 * kSampleBytes>(
      in, width, out, lanes_of(d), [&](std::int64_t x, std::int64_t from) HWY_ATTR {
        auto r = hn::Zero(d);
        auto g = hn::Zero(d);
        auto b = hn::Zero(d);
        hn::LoadInterleaved3(d, reinterpret_cast<const T*>(in) + 3 * from, r, g, b);
        hn::StoreInterleaved3(reversed(r), reversed(g), reversed(b), d, reinterpret_cast<T*>(out) + 3 * x);
      });
}

HWY_INLINE void reverse_row(const std::byte* in, std::int64_t width, int bytes, std::byte* out) {
  if (bytes == 1) reverse_row_of<1>(in, width, out);
  if (bytes == 2) reverse_row_of<2>(in, width, out);
  if (bytes == 3) reverse_row_of_three<std::uint8_t>(in, width, out);
  if (bytes == 4) reverse_row_of<4>(in, width, out);
  if (bytes == 6) reverse_row_of_three<std::uint16_t>(in, width, out);
  if (bytes == 8) reverse_row_of<8>(in, width, out);
  if (bytes == 12) reverse_row_of_three<std::uint32_t>(in, width, out);
  if (bytes == 16) reverse_row_of<16>(in, width, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

// Maps samples through a lookup table. For Highway files; included once per instruction set.
#if defined(IMGPIPE_KERNELS_LOOKUP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_LOOKUP_INL_H
#undef IMGPIPE_KERNELS_LOOKUP_INL_H
#else
#define IMGPIPE_KERNELS_LOOKUP_INL_H
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/pixel.h"
#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr int kSlice = 16;  // bytes per shuffle lookup
// 16 shuffles per vector pay off if vectors are long. One thread of a Xeon (Sapphire Rapids), 47 MP,
// 2026-11-21, gamma, ms: 64 bytes (AVX3) 11.0, 32 (AVX2) 17.5, 16 (SSE4) 18.6, with byte stores 18.0.
constexpr bool kShuffles = hn::MaxLanes(D8()) >= 64;

// Looks up the lower four bits of each value in every slice of the table; keeps the result from the slice
// that the upper four bits select.
HWY_INLINE V8 looked_up(V8 v, const Sample8* table) {
  const D8 d;
  const V8 within = hn::And(v, hn::Set(d, kSlice - 1));
  const V8 slice_of = hn::AndNot(hn::Set(d, kSlice - 1), v);
  V8 result = hn::Zero(d);
  for (int first = 0; first < kBins; first += kSlice) {
    const V8 found = hn::TableLookupBytes(hn::LoadDup128(d, table + first), within);
    const auto here = hn::Eq(slice_of, hn::Set(d, static_cast<Sample8>(first)));
    result = hn::IfThenElse(here, found, result);
  }
  return result;
}

// Looks samples up one by one. They are read in eights of bytes and stored in vectors: a core loads two or
// three times per cycle, but stores once. 12 MP of 8 bits, one thread of an EPYC (Zen 4), 2026-11-27: 2.7 ms;
// with byte stores 7.8.
template <class T, std::size_t... I>
HWY_INLINE auto looked_up_each(const T* in, const T* table, std::index_sequence<I...>) {
  constexpr std::size_t kInWord = 8 / sizeof(T);
  std::uint64_t words[2];
  std::memcpy(words, in, sizeof words);
  const auto found = [&](std::size_t i) {
    const std::size_t at =
        std::endian::native == std::endian::little ? i % kInWord : kInWord - 1 - i % kInWord;
    return table[words[i / kInWord] >> (8 * sizeof(T) * at) & kLargest<T>];
  };
  auto v = hn::Zero(hn::FixedTag<T, sizeof...(I)>());
  ((v = hn::InsertLane(v, I, found(I))), ...);
  return v;
}

template <class T>
HWY_INLINE void look_up_row(const T* in, std::int64_t width, bool bypasses, const T* table, T* out) {
  const auto each = [&] {
    for (std::int64_t x = 0; x < width; ++x) out[x] = table[in[x]];
  };
  if constexpr (!kIsWide<T> && kShuffles) {
    map_row(
        in, width, bypasses, [table](V8 v) HWY_ATTR { return looked_up(v, table); }, out);
  } else if constexpr (HWY_TARGET != HWY_EMU128) {
    constexpr std::size_t kLanes = 16 / sizeof(T);
    const auto vector = [&](std::int64_t x, const auto& store) HWY_ATTR {
      prefetch_ahead(in + x);
      const auto v = looked_up_each(in + x, table, std::make_index_sequence<kLanes>());
      store(hn::FixedTag<T, kLanes>(), v, out + x);
    };
    for_stored_row<1>(out, width, kLanes, bypasses, vector, each);
  } else {
    each();
  }
}

template <class T>
HWY_INLINE void look_up_plane(const StageCall<Host>& call, const Band& band, std::size_t i, const T* table) {
  map_rows<T, T>(call, band, i, [&band, table](const T* in, std::int64_t samples, T* out) HWY_ATTR {
    look_up_row(in, samples, band.bypasses_caches, table, out);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

// Maps samples through a lookup table. For Highway files; included once per instruction set.
#if defined(IMGPIPE_KERNELS_LOOKUP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_LOOKUP_INL_H
#undef IMGPIPE_KERNELS_LOOKUP_INL_H
#else
#define IMGPIPE_KERNELS_LOOKUP_INL_H
#endif

#include <bit>
#include <cstring>

#include "kernels/pixel.h"
#include "kernels/shared/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr int kSlice = 16;  // bytes per shuffle lookup
// 16 shuffles per vector pay off if vectors are long. One thread of a Xeon (Sapphire Rapids), 47 MP,
// 2026-11-21, gamma, ms: 64 bytes (AVX3) 11.0, 32 (AVX2) 17.5, 16 (SSE4) 18.6, sample by sample 18.0.
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

// 16-bit samples are looked up one by one, as no shuffle handles such a table. They are read in fours and
// stored in vectors: a core loads two or three times per cycle, but stores once.
HWY_INLINE void look_up_row(const Sample16* in, std::int64_t width, const Sample16* table, Sample16* out) {
  const hn::FixedTag<Sample16, 8> d;
  const auto found = [&](std::uint64_t four, int i) {
    return table[four >> 16 * (std::endian::native == std::endian::little ? i : 3 - i) & 0xFFFF];
  };
  const auto vector = [&](std::int64_t x) HWY_ATTR {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::memcpy(&first, in + x, sizeof first);
    std::memcpy(&second, in + x + 4, sizeof second);
    auto v = hn::Set(d, found(first, 0));
    v = hn::InsertLane(v, 1, found(first, 1));
    v = hn::InsertLane(v, 2, found(first, 2));
    v = hn::InsertLane(v, 3, found(first, 3));
    v = hn::InsertLane(v, 4, found(second, 0));
    v = hn::InsertLane(v, 5, found(second, 1));
    v = hn::InsertLane(v, 6, found(second, 2));
    hn::StoreU(hn::InsertLane(v, 7, found(second, 3)), d, out + x);
  };
  for_row(width, 8, vector, [&] {
    for (std::int64_t x = 0; x < width; ++x) out[x] = table[in[x]];
  });
}

HWY_INLINE void look_up_row(const Sample8* in, std::int64_t width, const Sample8* table, Sample8* out) {
  if constexpr (kShuffles) {
    map_row(
        in, width, [table](V8 v) HWY_ATTR { return looked_up(v, table); }, out);
  } else {
    for (std::int64_t x = 0; x < width; ++x) out[x] = table[in[x]];
  }
}

template <class T>
HWY_INLINE void look_up_plane(const StageCall<Host>& call, const Band& band, std::size_t i, const T* table) {
  map_rows<T, T>(call, band, i, [table](const T* in, std::int64_t samples, T* out) HWY_ATTR {
    look_up_row(in, samples, table, out);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

// Samples through a table of what each value becomes: for files in Highway, behind hwy/highway.h: it is read
// once for each instruction set.
#if defined(IMGPIPE_KERNELS_LOOKUP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_LOOKUP_INL_H
#undef IMGPIPE_KERNELS_LOOKUP_INL_H
#else
#define IMGPIPE_KERNELS_LOOKUP_INL_H
#endif

#include "kernels/pixel.h"
#include "kernels/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr int kSlice = 16;  // bytes that a shuffle looks up in
// 16 shuffles a vector pay where vectors are long. One thread of a Xeon (Sapphire Rapids), 47 MP, 2026-11-21,
// gamma: 11.0 ms in 64 bytes (AVX3), 17.5 in 32 (AVX2), 18.6 in 16 (SSE4), and 18.0 sample by sample.
constexpr bool kShuffles = hn::MaxLanes(D8()) >= 64;

// Each slice of the table by the lower half of the samples, taken where the upper half names that slice.
HWY_INLINE V8 looked_up(V8 v, const Sample* table) {
  const D8 d;
  const V8 within = hn::And(v, hn::Set(d, kSlice - 1));
  const V8 slice_of = hn::AndNot(hn::Set(d, kSlice - 1), v);
  V8 result = hn::Zero(d);
  for (int first = 0; first < kBins; first += kSlice) {
    const V8 found = hn::TableLookupBytes(hn::LoadDup128(d, table + first), within);
    const auto here = hn::Eq(slice_of, hn::Set(d, static_cast<Sample>(first)));
    result = hn::IfThenElse(here, found, result);
  }
  return result;
}

// Plane c of a band. table: kBins samples.
HWY_INLINE void look_up_plane(const StageCall<Host>& call, const Band& band, int c, const Sample* table) {
  if constexpr (kShuffles) {
    map_plane(call, band, c, [table](V8 v) HWY_ATTR { return looked_up(v, table); });
  } else {
    map_rows(call, band, c, [table](const Sample* in, std::int64_t width, Sample* out) {
      for (std::int64_t x = 0; x < width; ++x) out[x] = table[in[x]];
    });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

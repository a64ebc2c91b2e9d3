#include "kernels/gamma/gamma.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gamma/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pointwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

constexpr int kSlice = 16;  // bytes that a shuffle looks up in
// 16 shuffles a vector pay where vectors are long. One thread of a Xeon (Sapphire Rapids), 47 MP, 2026-11-21:
// 11.0 ms in 64 bytes (AVX3), 17.5 in 32 (AVX2), 18.6 in 16 (SSE4), and 18.0 sample by sample.
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

void gamma_rows(const StageCall<Host>& call, const Band& band) {
  const auto* table = call.prepared.as<Sample>();
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    if constexpr (kShuffles) {
      map_plane(call, band, c, [table](V8 v) HWY_ATTR { return looked_up(v, table); });
    } else {
      map_rows(call, band, c, [table](const Sample* in, std::int64_t width, Sample* out) {
        for (std::int64_t x = 0; x < width; ++x) out[x] = table[in[x]];
      });
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(gamma_rows);

void gamma_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(gamma_rows)(call, band);
}

// One by one: no shuffle looks up in so long a table, and gathering is no faster.
void gamma16_cpu(const StageCall<Host>& call, const Band& band) {
  const auto* table = call.prepared.as<Sample16>();
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const Sample16, Host> in = call.in.plane<Sample16>(static_cast<std::size_t>(c));
    const Plane<Sample16, Host> out = call.out.plane<Sample16>(static_cast<std::size_t>(c));
    for (std::int64_t y = band.first; y < band.end; ++y) {
      const Sample16* from = in.row(y - band.in_top);
      Sample16* to = out.row(y - band.out_top);
      for (std::int64_t x = 0; x < in.width; ++x) to[x] = table[from[x]];
    }
  }
}

}  // namespace imgpipe
#endif

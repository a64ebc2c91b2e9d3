// Rows of a band through a function of a vector: what pointwise stages share on the host. For files in
// Highway, behind hwy/highway.h: it is read once for each instruction set.
#if defined(IMGPIPE_KERNELS_POINTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_POINTWISE_INL_H
#undef IMGPIPE_KERNELS_POINTWISE_INL_H
#else
#define IMGPIPE_KERNELS_POINTWISE_INL_H
#endif

#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/stage_call.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;
using V8 = hn::Vec<D8>;

// Samples that are asked for early: hardware stops at the end of a page. One thread of a Xeon (Sapphire
// Rapids), AVX3, contrast of 47 MP, 2026-11-20: 5.6 ms instead of 6.6.
constexpr std::int64_t kPointwiseAhead = 2048;

// function: V8 -> V8, each sample by itself.
template <class Function>
HWY_INLINE void map_row(const Sample* in, std::int64_t width, const Function& function, Sample* out) {
  const D8 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    hwy::Prefetch(in + x + kPointwiseAhead);
    hn::StoreU(function(hn::LoadU(d, in + x)), d, out + x);
  }
  if (x == width) return;
  if (width >= lanes) {  // the last vector once more, ending with the row
    x = width - lanes;
    hn::StoreU(function(hn::LoadU(d, in + x)), d, out + x);
    return;
  }
  HWY_ALIGN Sample few[hn::MaxLanes(d)] = {};
  std::memcpy(few, in, static_cast<std::size_t>(width));
  hn::Store(function(hn::Load(d, few)), d, few);
  std::memcpy(out, few, static_cast<std::size_t>(width));
}

// Plane c of a band. function(in, width, out): a row.
template <class Function>
HWY_INLINE void map_rows(const StageCall<Host>& call, const Band& band, int c, const Function& function) {
  const ConstHostPlane in = call.in.plane<Sample>(static_cast<std::size_t>(c));
  const HostPlane out = call.out.plane<Sample>(static_cast<std::size_t>(c));
  for (std::int64_t y = band.first; y < band.end; ++y) {
    function(in.row(y - band.in_top), in.width, out.row(y - band.out_top));
  }
}

// function: V8 -> V8, each sample by itself.
template <class Function>
HWY_INLINE void map_plane(const StageCall<Host>& call, const Band& band, int c, const Function& function) {
  map_rows(call, band, c, [&](const Sample* in, std::int64_t width, Sample* out) HWY_ATTR {
    map_row(in, width, function, out);
  });
}

// ---- samples of 16 bits, or of 8 and 16 ---------------------------------------------------------------

using D16 = hn::Repartition<std::uint16_t, D8>;
using V16 = hn::Vec<D16>;

// A vector of 16-bit values from samples of either type, and to them: those of 8 bits are below 256.
HWY_INLINE V16 load16(const Sample16* from) {
  return hn::LoadU(D16(), from);
}
HWY_INLINE V16 load16(const Sample* from) {
  return hn::PromoteTo(D16(), hn::LoadU(hn::Rebind<std::uint8_t, D16>(), from));
}
HWY_INLINE void store16(V16 v, Sample16* to) {
  hn::StoreU(v, D16(), to);
}
HWY_INLINE void store16(V16 v, Sample* to) {
  const hn::Rebind<std::uint8_t, D16> narrow;
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(hn::RebindToSigned<D16>(), v)), narrow, to);
}

// function: V16 -> V16, each sample by itself.
template <class From, class To, class Function>
HWY_INLINE void map_row16(const From* in, std::int64_t width, const Function& function, To* out) {
  constexpr auto kAhead = kPointwiseAhead / static_cast<std::int64_t>(sizeof(From));
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D16()));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    hwy::Prefetch(in + x + kAhead);
    store16(function(load16(in + x)), out + x);
  }
  if (x == width) return;
  if (width >= lanes) {  // the last vector once more, ending with the row
    x = width - lanes;
    store16(function(load16(in + x)), out + x);
    return;
  }
  HWY_ALIGN From few[hn::MaxLanes(D16())] = {};
  HWY_ALIGN To made[hn::MaxLanes(D16())];
  std::memcpy(few, in, static_cast<std::size_t>(width) * sizeof(From));
  store16(function(load16(few)), made);
  std::memcpy(out, made, static_cast<std::size_t>(width) * sizeof(To));
}

// Plane i of a band.
template <class From, class To, class Function>
HWY_INLINE void map_plane16(const StageCall<Host>& call, const Band& band, std::size_t i,
                            const Function& function) {
  const Plane<const From, Host> in = call.in.plane<From>(i);
  const Plane<To, Host> out = call.out.plane<To>(i);
  for (std::int64_t y = band.first; y < band.end; ++y)
    map_row16(in.row(y - band.in_top), in.row_samples(), function, out.row(y - band.out_top));
}

// Plane i of a band, its samples as those of the other type (kernels/depth/convert.h).
template <class From, class To>
HWY_INLINE void convert_plane(const StageCall<Host>& call, const Band& band, std::size_t i) {
  if constexpr (sizeof(To) > sizeof(From)) {  // 257 v = v + 256 v
    map_plane16<From, To>(call, band, i, [](V16 v) HWY_ATTR { return hn::Or(v, hn::ShiftLeft<8>(v)); });
  } else if constexpr (sizeof(To) < sizeof(From)) {
    // (255 v + 32767) / 65535 = (t - t / 256) / 256 with t = min(v + 128, 65535): differential_test tries all
    // v.
    map_plane16<From, To>(call, band, i, [](V16 v) HWY_ATTR {
      const V16 t = hn::SaturatedAdd(v, hn::Set(D16(), 128));
      return hn::ShiftRight<8>(hn::Sub(t, hn::ShiftRight<8>(t)));
    });
  } else {
    map_plane16<From, To>(call, band, i, [](V16 v) HWY_ATTR { return v; });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

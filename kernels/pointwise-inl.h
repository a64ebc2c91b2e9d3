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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

// The luma of a vector of 8-bit pixels, in 16 bits per sum. For exact 16-bit weights that suffices: each
// weight is split into bytes, w = 256 h + l,
//
//   sum of w v + 2^15  =  256 (sum of h v  +  128)  +  sum of l v
//   luma               =  (sum of h v + 128 + (sum of l v >> 8)) >> 8
//
// and no sum exceeds 2^16: the h sum to 255, the l to 256. For Highway files, after hwy/highway.h; included
// once per instruction set.
#if defined(IMGPIPE_IMAGES_LUMA_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_IMAGES_LUMA_INL_H
#undef IMGPIPE_IMAGES_LUMA_INL_H
#else
#define IMGPIPE_IMAGES_LUMA_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "images/luma.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V weighted_sum(D d, const std::uint16_t (&w)[3], V r, V g, V b) {
  namespace hn = hwy::HWY_NAMESPACE;
  return hn::Add(hn::Add(hn::Mul(r, hn::Set(d, w[0])), hn::Mul(g, hn::Set(d, w[1]))),
                 hn::Mul(b, hn::Set(d, w[2])));
}

// Returns the luma in the upper half of each lane of 16 bits.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V luma_sum(D d, const SplitWeights& weights, V r, V g, V b) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V low = weighted_sum(d, weights.low, r, g, b);
  const V high = weighted_sum(d, weights.high, r, g, b);
  return hn::Add(hn::Add(high, hn::Set(d, 128)), hn::ShiftRight<8>(low));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

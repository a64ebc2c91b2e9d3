// Rows of one image over another. For Highway files; included once per instruction set.
#if defined(IMGPIPE_KERNELS_OVER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_OVER_INL_H
#undef IMGPIPE_KERNELS_OVER_INL_H
#else
#define IMGPIPE_KERNELS_OVER_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// The arithmetic of over() (kernels/shared/over.h) in lanes of pairs.
template <class T>
HWY_INLINE typename Pairs<T>::V over_pairs(typename Pairs<T>::V v, typename Pairs<T>::V alpha,
                                           typename Pairs<T>::V background) {
  using P = Pairs<T>;
  const typename P::D d;
  const auto rest = hn::Sub(hn::Set(d, typename P::Sum{kLargest<T>}), alpha);
  const auto sum = hn::Add(hn::Mul(v, alpha), hn::Mul(background, rest));
  const auto n = hn::Add(sum, hn::Set(d, static_cast<typename P::Sum>(1U << (P::kBits - 1))));
  return hn::ShiftRight<P::kBits>(hn::Add(hn::ShiftRight<P::kBits>(n), n));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

// Quotients of integers as doubles. For Highway files; included once per instruction set.
#if defined(IMGPIPE_KERNELS_QUOTIENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_QUOTIENTS_INL_H
#undef IMGPIPE_KERNELS_QUOTIENTS_INL_H
#else
#define IMGPIPE_KERNELS_QUOTIENTS_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

using DDouble = hn::Repartition<double, D8>;
using VDouble = hn::Vec<DDouble>;

// Samples as doubles. Dividends are exact as far as their quotients are at most white. The whole part of such
// a quotient is exact too, because it is an integer or at least a millionth away from one.
struct Quotients {
  template <class T>
  static HWY_INLINE VDouble load(const T* from) {
    const hn::Rebind<std::int32_t, DDouble> whole;
    return hn::PromoteTo(DDouble(), hn::PromoteTo(whole, hn::LoadU(hn::Rebind<T, DDouble>(), from)));
  }
  // Stores the whole parts of values >= 0, at most white.
  template <class T>
  static HWY_INLINE void store(VDouble v, T* to) {
    const hn::Rebind<std::int32_t, DDouble> whole;
    const auto limited = hn::DemoteTo(whole, hn::Min(v, hn::Set(DDouble(), kLargest<T>)));
    const hn::Rebind<T, DDouble> narrow;
    hn::StoreU(hn::DemoteTo(narrow, limited), narrow, to);
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

// Maps a band's rows through a function of a vector. For Highway files; included once per instruction set.
#if defined(IMGPIPE_KERNELS_POINTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef IMGPIPE_KERNELS_POINTWISE_INL_H
#undef IMGPIPE_KERNELS_POINTWISE_INL_H
#else
#define IMGPIPE_KERNELS_POINTWISE_INL_H
#endif

#include <cstring>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Lanes of the larger sample type; 8-bit samples are then numbers below 256.
template <class From, class To>
constexpr auto pointwise_tag() {
  if constexpr (kIsFloat<From> || kIsFloat<To>) {
    return DFloat();
  } else if constexpr (kIsWide<From> || kIsWide<To>) {
    return D16();
  } else {
    return D8();
  }
}
template <class From, class To>
using PointwiseTag = decltype(pointwise_tag<From, To>());

// Maps a row. function: V8 -> V8, V16 -> V16 or VFloat -> VFloat (PointwiseTag), each sample independently.
// `bypasses`: as Band::bypasses_caches.
template <class From, class To, class Function>
HWY_INLINE void map_row(const From* in, std::int64_t width, bool bypasses, const Function& function,
                        To* out) {
  using D = PointwiseTag<From, To>;
  const D d;
  const auto vector = [&](std::int64_t x, const auto& store) HWY_ATTR {
    prefetch_ahead(in + x);
    store_as(d, function(load_as(d, in + x)), out + x, store);
  };
  const auto few = [&]() HWY_ATTR {
    HWY_ALIGN From few[hn::MaxLanes(D())] = {};
    HWY_ALIGN To made[hn::MaxLanes(D())];
    std::memcpy(few, in, static_cast<std::size_t>(width) * sizeof(From));
    store_as(d, function(load_as(d, few)), made);
    std::memcpy(out, made, static_cast<std::size_t>(width) * sizeof(To));
  };
  for_stored_row<1>(out, width, lanes_of(d), bypasses, vector, few);
}

// Calls function(in, samples, out) for each row of plane i of a band.
template <class From, class To, class Function>
HWY_INLINE void map_rows(const StageCall<Host>& call, const Band& band, std::size_t i,
                         const Function& function) {
  const Plane<const From, Host> in = call.in.plane<From>(i);
  const Plane<To, Host> out = call.out.plane<To>(i);
  for (std::int64_t y = band.first; y < band.end; ++y)
    function(in.row(y - band.in_top), in.row_samples(), out.row(y - band.out_top));
}

template <class From, class To, class Function>
HWY_INLINE void map_plane(const StageCall<Host>& call, const Band& band, std::size_t i,
                          const Function& function) {
  map_rows<From, To>(call, band, i, [&](const From* in, std::int64_t samples, To* out) HWY_ATTR {
    map_row(in, samples, band.bypasses_caches, function, out);
  });
}

template <class T, class Function>
HWY_INLINE void map_color_planes(const StageCall<Host>& call, const Band& band, const Function& function) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(call.in.type.color_channels); ++i)
    map_plane<T, T>(call, band, i, function);
}

// Converts plane i of a band to the other sample type (kernels/shared/convert.h).
template <class From, class To>
HWY_INLINE void convert_plane(const StageCall<Host>& call, const Band& band, std::size_t i) {
  if constexpr (kIsWide<To> && !kIsWide<From>) {  // 257 v = v + 256 v
    map_plane<From, To>(call, band, i, [](V16 v) HWY_ATTR { return hn::Or(v, hn::ShiftLeft<8>(v)); });
  } else if constexpr (!kIsWide<To> && kIsWide<From>) {
    // (255 v + 32767) / 65535 = (t - t / 256) / 256 with t = min(v + 128, 65535): see differential_test.
    map_plane<From, To>(call, band, i, [](V16 v) HWY_ATTR {
      const V16 t = hn::SaturatedAdd(v, hn::Set(D16(), 128));
      return hn::ShiftRight<8>(hn::Sub(t, hn::ShiftRight<8>(t)));
    });
  } else {
    map_plane<From, To>(call, band, i, [](auto v) HWY_ATTR { return v; });
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#endif

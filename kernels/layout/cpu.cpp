// split and merge in SIMD, with Highway's interleaved loads and stores.
#include "kernels/layout/layout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layout/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
using TagOf = hn::ScalableTag<T>;

// planes: `Channels` planes in channel order.
template <int Channels, class T>
HWY_INLINE void split_vector(const T* in, T* const* planes, std::int64_t x) {
  const TagOf<T> d;
  hn::Vec<TagOf<T>> v[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  if constexpr (Channels == 2) hn::LoadInterleaved2(d, in + 2 * x, v[0], v[1]);
  if constexpr (Channels == 3) hn::LoadInterleaved3(d, in + 3 * x, v[0], v[1], v[2]);
  if constexpr (Channels == 4) hn::LoadInterleaved4(d, in + 4 * x, v[0], v[1], v[2], v[3]);
  for (int c = 0; c < Channels; ++c) hn::StoreU(v[c], d, planes[c] + x);
}

template <int Channels, class T>
HWY_INLINE void merge_vector(const T* const* planes, T* out, std::int64_t x) {
  const TagOf<T> d;
  hn::Vec<TagOf<T>> v[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for (int c = 0; c < Channels; ++c) v[c] = hn::LoadU(d, planes[c] + x);
  if constexpr (Channels == 2) hn::StoreInterleaved2(v[0], v[1], d, out + 2 * x);
  if constexpr (Channels == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, out + 3 * x);
  if constexpr (Channels == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, out + 4 * x);
}

template <int Channels, class T>
void split_row(const T* in, T* const* planes, std::int64_t width) {
  const auto vector = [&](std::int64_t x) HWY_ATTR { split_vector<Channels>(in, planes, x); };
  for_row(width, lanes_of(TagOf<T>()), vector, [&] {
    for (std::int64_t x = 0; x < width; ++x) {
      for (int c = 0; c < Channels; ++c) planes[c][x] = in[Channels * x + c];
    }
  });
}

template <int Channels, class T>
void merge_row(const T* const* planes, T* out, std::int64_t width) {
  const auto vector = [&](std::int64_t x) HWY_ATTR { merge_vector<Channels>(planes, out, x); };
  for_row(width, lanes_of(TagOf<T>()), vector, [&] {
    for (std::int64_t x = 0; x < width; ++x) {
      for (int c = 0; c < Channels; ++c) out[Channels * x + c] = planes[c][x];
    }
  });
}

template <class T>
void split_planes(const StageCall<Host>& call, const Band& band) {
  const FrameType& shape = call.in.type;
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const T* in = call.in.plane<T>(0).row(y - band.in_top);
    T* planes[4] = {};
    for (int c = 0; c < shape.channels(); ++c)
      planes[c] = call.out.plane<T>(plane_of_channel(shape, c)).row(y - band.out_top);
    if (shape.channels() == 2) split_row<2>(in, planes, shape.width);
    if (shape.channels() == 3) split_row<3>(in, planes, shape.width);
    if (shape.channels() == 4) split_row<4>(in, planes, shape.width);
  }
}

template <class T>
void merge_planes(const StageCall<Host>& call, const Band& band) {
  const FrameType& shape = call.in.type;
  for (std::int64_t y = band.first; y < band.end; ++y) {
    T* out = call.out.plane<T>(0).row(y - band.out_top);
    const T* planes[4] = {};
    for (int c = 0; c < shape.channels(); ++c)
      planes[c] = call.in.plane<T>(plane_of_channel(shape, c)).row(y - band.in_top);
    if (shape.channels() == 2) merge_row<2>(planes, out, shape.width);
    if (shape.channels() == 3) merge_row<3>(planes, out, shape.width);
    if (shape.channels() == 4) merge_row<4>(planes, out, shape.width);
  }
}

void split_rows(const StageCall<Host>& call, const Band& band) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { split_planes<T>(call, band); });
}

void merge_rows(const StageCall<Host>& call, const Band& band) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { merge_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(split)
IMGPIPE_DISPATCH(merge)
#endif

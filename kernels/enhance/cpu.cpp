#include "kernels/enhance/enhance.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/enhance/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE void saturate_vector(const T* const (&in)[3], std::int64_t x, float factor, T* const (&out)[3]) {
  const DFloat d;
  const D32 sums;
  const hn::RebindToSigned<D32> whole;
  const hn::Rebind<T, DFloat> samples;
  V32 v[3];
  for (int c = 0; c < 3; ++c) v[c] = load_as(sums, in[c] + x);
  const LumaWeights luma = luma_weights(Luma::bt601);
  const V32 red = hn::Add(hn::Mul(v[0], hn::Set(sums, luma.r)), hn::Set(sums, 1U << 15));
  const V32 others = hn::Add(hn::Mul(v[1], hn::Set(sums, luma.g)), hn::Mul(v[2], hn::Set(sums, luma.b)));
  const auto grey = hn::BitCast(whole, hn::ShiftRight<16>(hn::Add(red, others)));
  for (int c = 0; c < 3; ++c) {
    const VFloat distance = hn::ConvertTo(d, hn::Sub(hn::BitCast(whole, v[c]), grey));
    const VFloat mixed = hn::Add(hn::ConvertTo(d, grey), hn::Mul(hn::Set(d, factor), distance));
    const VFloat limited = hn::Min(hn::Max(mixed, hn::Zero(d)), hn::Set(d, kLargest<T>));
    hn::StoreU(hn::DemoteTo(samples, hn::ConvertTo(whole, limited)), samples, out[c] + x);
  }
}

template <class T>
void saturate_row(const T* const (&in)[3], std::int64_t width, float factor, T* const (&out)[3]) {
  const LumaWeights luma = luma_weights(Luma::bt601);
  for_row(
      width, lanes_of(DFloat()), [&](std::int64_t x) HWY_ATTR { saturate_vector<T>(in, x, factor, out); },
      [&] {
        for (std::int64_t x = 0; x < width; ++x) {
          const T grey = luma_of<T>(luma, in[0][x], in[1][x], in[2][x]);
          for (int c = 0; c < 3; ++c) out[c][x] = enhanced<T>(in[c][x], grey, factor);
        }
      });
}

template <class T>
void saturate_rows(const StageCall<Host>& call, const Band& band) {
  const float factor = enhance_factor(call.parameters);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const auto in = [&](std::size_t c) { return call.in.plane<T>(c).row(y - band.in_top); };
    const auto out = [&](std::size_t c) { return call.out.plane<T>(c).row(y - band.out_top); };
    saturate_row<T>({in(0), in(1), in(2)}, call.in.type.width, factor, {out(0), out(1), out(2)});
  }
}

void saturation_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { saturate_rows<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(saturation)
#endif

// gray of samples of 16 bits in SIMD: 32 bits hold the sum of all three products and the rounding.
#include "kernels/gray/gray.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gray/cpu16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pointwise-inl.h"

#ifndef IMGPIPE_GRAY_WEIGHTS_16
#define IMGPIPE_GRAY_WEIGHTS_16
namespace imgpipe {
namespace {

constexpr std::int64_t kAhead = 2048;  // samples that are asked for early: 4 KiB, as of 8 bits
constexpr std::int64_t kCacheLineSamples = 32;

// The same weights as if their shift were 16: twice the sum, twice the rounding, one bit more shifted out.
constexpr LumaWeights of_16_bits(const LumaWeights& w) {
  const int more = 16 - w.shift;
  return {w.r << more, w.g << more, w.b << more, 16};
}

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

using D32 = hn::Repartition<std::uint32_t, D16>;
using V32 = hn::Vec<D32>;

class GrayVector16 {
 public:
  explicit GrayVector16(const LumaWeights& w) : weights_(w) {}

  // Even and odd samples are weighed apart, so that nothing has to change lanes.
  HWY_INLINE V16 operator()(V16 r, V16 g, V16 b) const {
    const D32 d;
    const V32 words = hn::Set(d, 0xFFFF);
    const V32 r32 = hn::BitCast(d, r);
    const V32 g32 = hn::BitCast(d, g);
    const V32 b32 = hn::BitCast(d, b);
    const V32 even = weighed(hn::And(r32, words), hn::And(g32, words), hn::And(b32, words));
    const V32 odd = weighed(hn::ShiftRight<16>(r32), hn::ShiftRight<16>(g32), hn::ShiftRight<16>(b32));
    return hn::BitCast(D16(), hn::Or(hn::ShiftRight<16>(even), hn::AndNot(words, odd)));
  }

 private:
  // The luma in the upper half.
  HWY_INLINE V32 weighed(V32 r, V32 g, V32 b) const {
    const D32 d;
    const V32 red = hn::Add(hn::Mul(r, hn::Set(d, weights_.r)), hn::Set(d, 1U << 15));
    return hn::Add(hn::Add(red, hn::Mul(g, hn::Set(d, weights_.g))), hn::Mul(b, hn::Set(d, weights_.b)));
  }

  LumaWeights weights_;
};

template <bool Alpha>
HWY_INLINE void gray_vector(const GrayVector16& gray, const Sample16* in, Sample16* grey, Sample16* alpha) {
  const D16 d;
  V16 r = hn::Zero(d);
  V16 g = r;
  V16 b = r;
  if constexpr (Alpha) {
    V16 a = r;
    hn::LoadInterleaved4(d, in, r, g, b, a);
    hn::StoreU(a, d, alpha);
  } else {
    hn::LoadInterleaved3(d, in, r, g, b);
  }
  hn::StoreU(gray(r, g, b), d, grey);
}

template <bool Alpha>
void gray_row(const GrayVector16& gray, const LumaWeights& weights, const Sample16* in, std::int64_t width,
              Sample16* grey, Sample16* alpha) {
  constexpr std::int64_t kChannels = Alpha ? 4 : 3;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D16()));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    for (std::int64_t ahead = 0; ahead < kChannels * lanes; ahead += kCacheLineSamples)
      hwy::Prefetch(in + kChannels * x + kAhead + ahead);
    gray_vector<Alpha>(gray, in + kChannels * x, grey + x, Alpha ? alpha + x : nullptr);
  }
  if (x == width) return;
  if (width >= lanes) {  // the last vector once more, ending with the row
    x = width - lanes;
    gray_vector<Alpha>(gray, in + kChannels * x, grey + x, Alpha ? alpha + x : nullptr);
    return;
  }
  for (; x < width; ++x) {
    const Sample16* pixel = in + kChannels * x;
    grey[x] = luma_of<Sample16>(weights, pixel[0], pixel[1], pixel[2]);
    if constexpr (Alpha) alpha[x] = pixel[3];
  }
}

void gray16_rows(const StageCall<Host>& call, const Band& band) {
  const LumaWeights weights = of_16_bits(luma_weights(GrayParameters(call.parameters).luma));
  const GrayVector16 gray(weights);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const Sample16* in = call.in.plane<Sample16>(0).row(y - band.in_top);
    Sample16* grey = call.out.plane<Sample16>(0).row(y - band.out_top);
    if (call.in.type.alpha) {
      gray_row<true>(gray, weights, in, call.in.type.width, grey,
                     call.out.plane<Sample16>(kAlphaPlane).row(y - band.out_top));
    } else {
      gray_row<false>(gray, weights, in, call.in.type.width, grey, nullptr);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(gray16_rows);

void gray16_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(gray16_rows)(call, band);
}

}  // namespace imgpipe
#endif

// gray in SIMD. 16 bits a sample are enough for exact weights of 16 bits: each weight is split into bytes, w
// = 256 h + l,
//
//   sum of w v + 2^15  =  256 (sum of h v  +  128)  +  sum of l v
//   luma               =  (sum of h v + 128 + (sum of l v >> 8)) >> 8
//
// and no sum passes 2^16, because the h sum to 255 and the l to 256.
#include <cstddef>

#include "kernels/gray/gray.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gray/cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef IMGPIPE_GRAY_SPLIT_WEIGHTS
#define IMGPIPE_GRAY_SPLIT_WEIGHTS
namespace imgpipe {
namespace {

// Samples that are asked for early: hardware stops at the end of a page. One thread of a Xeon (Sapphire
// Rapids), AVX3, 47 MP, 2026-11-20: 15 ms instead of 19.5 (out of the caches 6.2).
constexpr std::int64_t kAhead = 4096;
constexpr std::int64_t kCacheLine = 64;

struct SplitWeights {
  std::uint16_t high[3], low[3];
};

// The weights of a luma, as if its shift were 16.
constexpr SplitWeights split_weights(Luma luma) {
  const LumaWeights w = luma_weights(luma);
  const std::uint32_t scaled[3] = {w.r << (16 - w.shift), w.g << (16 - w.shift), w.b << (16 - w.shift)};
  SplitWeights split{};
  for (int i = 0; i < 3; ++i) {
    split.high[i] = static_cast<std::uint16_t>(scaled[i] >> 8);
    split.low[i] = static_cast<std::uint16_t>(scaled[i] & 0xFF);
  }
  return split;
}

constexpr bool fits(const SplitWeights& w) {
  return w.high[0] + w.high[1] + w.high[2] == 255 && w.low[0] + w.low[1] + w.low[2] == 256;
}
static_assert(fits(split_weights(Luma::bt601)) && fits(split_weights(Luma::bt709)) &&
              fits(split_weights(Luma::opencv)));

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;

class GrayVector {
 public:
  explicit GrayVector(const SplitWeights& weights) : weights_(weights) {}

  // Even and odd samples are weighed apart, so that nothing has to change lanes.
  HWY_INLINE V8 operator()(V8 r, V8 g, V8 b) const {
    const D8 d8;
    const D16 d16;
    const V16 bytes = hn::Set(d16, 0xFF);
    const V16 r16 = hn::BitCast(d16, r);
    const V16 g16 = hn::BitCast(d16, g);
    const V16 b16 = hn::BitCast(d16, b);
    const V16 even = weighed(hn::And(r16, bytes), hn::And(g16, bytes), hn::And(b16, bytes));
    const V16 odd = weighed(hn::ShiftRight<8>(r16), hn::ShiftRight<8>(g16), hn::ShiftRight<8>(b16));
    return hn::BitCast(d8, hn::Or(hn::ShiftRight<8>(even), hn::AndNot(bytes, odd)));
  }

 private:
  // The luma in the upper byte.
  HWY_INLINE V16 weighed(V16 r, V16 g, V16 b) const {
    const D16 d;
    const V16 low =
        hn::Add(hn::Add(hn::Mul(r, hn::Set(d, weights_.low[0])), hn::Mul(g, hn::Set(d, weights_.low[1]))),
                hn::Mul(b, hn::Set(d, weights_.low[2])));
    const V16 high =
        hn::Add(hn::Add(hn::Mul(r, hn::Set(d, weights_.high[0])), hn::Mul(g, hn::Set(d, weights_.high[1]))),
                hn::Mul(b, hn::Set(d, weights_.high[2])));
    return hn::Add(hn::Add(high, hn::Set(d, 128)), hn::ShiftRight<8>(low));
  }

  SplitWeights weights_;
};

template <bool Alpha>
HWY_INLINE void gray_vector(const GrayVector& gray, const Sample* in, Sample* grey, Sample* alpha) {
  const D8 d;
  V8 r = hn::Zero(d);
  V8 g = r;
  V8 b = r;
  if constexpr (Alpha) {
    V8 a = r;
    hn::LoadInterleaved4(d, in, r, g, b, a);
    hn::StoreU(a, d, alpha);
  } else {
    hn::LoadInterleaved3(d, in, r, g, b);
  }
  hn::StoreU(gray(r, g, b), d, grey);
}

template <bool Alpha>
void gray_row(const GrayVector& gray, const LumaWeights& weights, const Sample* in, std::int64_t width,
              Sample* grey, Sample* alpha) {
  constexpr std::int64_t kChannels = Alpha ? 4 : 3;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(D8()));
  std::int64_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    for (std::int64_t ahead = 0; ahead < kChannels * lanes; ahead += kCacheLine)
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
    const Sample* pixel = in + kChannels * x;
    grey[x] = luma_of(weights, pixel[0], pixel[1], pixel[2]);
    if constexpr (Alpha) alpha[x] = pixel[3];
  }
}

void gray_rows(const StageCall<Host>& call, const Band& band) {
  const GrayVector gray(split_weights(GrayParameters(call.parameters).luma));
  const LumaWeights weights = luma_weights(GrayParameters(call.parameters).luma);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const Sample* in = call.in.plane<Sample>(0).row(y - band.in_top);
    Sample* grey = call.out.plane<Sample>(0).row(y - band.out_top);
    if (call.in.type.alpha) {
      gray_row<true>(gray, weights, in, call.in.type.width, grey,
                     call.out.plane<Sample>(kAlphaPlane).row(y - band.out_top));
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

HWY_EXPORT(gray_rows);

void gray_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(gray_rows)(call, band);
}

}  // namespace imgpipe
#endif

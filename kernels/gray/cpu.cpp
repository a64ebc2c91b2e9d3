// gray in SIMD. For 8-bit samples, 16 bits per sum suffice (images/luma-inl.h); for 16-bit samples, 32 bits.
#include <cstddef>

#include "images/luma.h"
#include "kernels/gray/gray.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gray/cpu.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "images/luma-inl.h"
#include "kernels/shared/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// The prefetch distance in bytes: the hardware prefetcher stops at the end of a page. One thread of a Xeon
// (Sapphire Rapids), AVX3, 47 MP of 8 bits, 2026-11-20: 15 ms, 19.5 without prefetching (6.2 with data in the
// caches).
constexpr std::int64_t kAhead = 4096;
constexpr std::int64_t kCacheLine = 64;

// luma_sum() returns the luma in the upper half of each sum's lane.
template <class T>
class Weights;

template <>
class Weights<Sample8> {
 public:
  explicit Weights(Luma luma) : split_(split_weights(luma)) {}

  HWY_INLINE V16 luma_sum(V16 r, V16 g, V16 b) const {
    return HWY_NAMESPACE::luma_sum(D16(), split_, r, g, b);
  }

 private:
  SplitWeights split_;
};

template <>
class Weights<Sample16> {
 public:
  explicit Weights(Luma luma) : of_16_bits_(weights_of_16_bits(luma)) {}

  HWY_INLINE V32 luma_sum(V32 r, V32 g, V32 b) const {
    const D32 d;
    const V32 red = hn::Add(hn::Mul(r, hn::Set(d, of_16_bits_.r)), hn::Set(d, 1U << 15));
    return hn::Add(hn::Add(red, hn::Mul(g, hn::Set(d, of_16_bits_.g))),
                   hn::Mul(b, hn::Set(d, of_16_bits_.b)));
  }

 private:
  LumaWeights of_16_bits_;
};

// Processes even and odd samples separately, so that no value changes its lane.
template <class T>
HWY_INLINE auto gray_of(const Weights<T>& weights, hn::Vec<typename Pairs<T>::Samples> r,
                        hn::Vec<typename Pairs<T>::Samples> g, hn::Vec<typename Pairs<T>::Samples> b) {
  using Both = Pairs<T>;
  const typename Both::D d;
  const auto even = weights.luma_sum(Both::even(r), Both::even(g), Both::even(b));
  const auto odd = weights.luma_sum(Both::odd(r), Both::odd(g), Both::odd(b));
  const auto lower = hn::Set(d, typename Both::Sum{kLargest<T>});
  return hn::BitCast(typename Both::Samples(),
                     hn::Or(hn::ShiftRight<Both::kBits>(even), hn::AndNot(lower, odd)));
}

template <bool Alpha, class T>
HWY_INLINE void gray_vector(const Weights<T>& weights, const T* in, T* grey, T* alpha) {
  const typename Pairs<T>::Samples d;
  auto r = hn::Zero(d);
  auto g = r;
  auto b = r;
  if constexpr (Alpha) {
    auto a = r;
    hn::LoadInterleaved4(d, in, r, g, b, a);
    hn::StoreU(a, d, alpha);
  } else {
    hn::LoadInterleaved3(d, in, r, g, b);
  }
  hn::StoreU(gray_of(weights, r, g, b), d, grey);
}

template <bool Alpha, class T>
void gray_row(Luma luma, const T* in, std::int64_t width, T* grey, T* alpha) {
  constexpr std::int64_t kChannels = Alpha ? 4 : 3;
  constexpr auto kSampleBytes = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t lanes = lanes_of(typename Pairs<T>::Samples());
  const Weights<T> weights(luma);
  const auto vector = [&](std::int64_t x) HWY_ATTR {
    for (std::int64_t ahead = 0; ahead < kChannels * lanes; ahead += kCacheLine / kSampleBytes)
      hwy::Prefetch(in + kChannels * x + kAhead / kSampleBytes + ahead);
    gray_vector<Alpha>(weights, in + kChannels * x, grey + x, Alpha ? alpha + x : nullptr);
  };
  for_row(width, lanes, vector, [&] {
    for (std::int64_t x = 0; x < width; ++x) {
      const T* pixel = in + kChannels * x;
      grey[x] = luma_of<T>(luma_weights(luma), pixel[0], pixel[1], pixel[2]);
      if constexpr (Alpha) alpha[x] = pixel[3];
    }
  });
}

template <class T>
void gray_planes(const StageCall<Host>& call, const Band& band) {
  const Luma luma = GrayParameters(call.parameters).luma;
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const T* in = call.in.plane<T>(0).row(y - band.in_top);
    T* grey = call.out.plane<T>(0).row(y - band.out_top);
    if (call.in.type.alpha) {
      T* alpha = call.out.plane<T>(kAlphaPlane).row(y - band.out_top);
      gray_row<true>(luma, in, call.in.type.width, grey, alpha);
    } else {
      gray_row<false, T>(luma, in, call.in.type.width, grey, nullptr);
    }
  }
}

void gray_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { gray_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(gray)
#endif

// contrast in SIMD from 8 bits to 8 (cpu16.cpp: all others), 16 bits a sample. With d = min(max(v - lo, 0),
// span) the result is floor(255 d / span + 1/2), and that is (d factor + round) >> 16 for a factor of at most
// 24 bits: see stretch_factor().
#include "kernels/contrast/contrast.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/contrast/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pointwise-inl.h"

#ifndef IMGPIPE_CONTRAST_STRETCH_FACTOR
#define IMGPIPE_CONTRAST_STRETCH_FACTOR
namespace imgpipe {
namespace {

struct StretchFactor {
  Sample lo;
  Sample span;
  std::uint16_t whole;     // of factor / 2^16
  std::uint16_t fraction;  // factor mod 2^16
  std::uint16_t round;
};

// q = 255 * 2^16 / span lies between two integers, and d q / 2^16 + 1/2 is nowhere nearer than 1 / (2 span)
// below an integer. So an error from 0 to less than 2^16 / (2 span) in d factor + round changes nothing.
// Rounding q up by (span - rest) / span makes it at most span - rest; rounding it down and adding `rest` to
// the rounding makes it at most rest. One of both is below 2^15 / span, because span^2 < 2^16.
constexpr StretchFactor stretch_factor(int lo, int hi) {
  const auto span = static_cast<std::uint32_t>(hi - lo);
  std::uint32_t factor = 255U * 65536U / span;
  const std::uint32_t rest = 255U * 65536U % span;
  std::uint32_t round = 32768;
  if (rest != 0 && (span - rest) * span < 32768) {
    ++factor;
  } else {
    round += rest;
  }
  return {static_cast<Sample>(lo), static_cast<Sample>(span), static_cast<std::uint16_t>(factor >> 16),
          static_cast<std::uint16_t>(factor), static_cast<std::uint16_t>(round)};
}

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// d factor + round, over 2^16. The carry of the lower half is the top bit of an average that loses no bit.
HWY_INLINE V16 stretched_distance(V16 distance, const StretchFactor& factor) {
  const D16 d;
  const V16 fraction = hn::Set(d, factor.fraction);
  const V16 low = hn::Mul(distance, fraction);
  const V16 carry =
      hn::ShiftRight<15>(hn::AverageRound(low, hn::Set(d, static_cast<std::uint16_t>(factor.round - 1))));
  const V16 whole = hn::Add(hn::Mul(distance, hn::Set(d, factor.whole)), hn::MulHigh(distance, fraction));
  return hn::Add(whole, carry);
}

HWY_INLINE V8 stretched_vector(V8 v, const StretchFactor& factor) {
  const D8 d8;
  const D16 d16;
  const V8 distance = hn::Min(hn::SaturatedSub(v, hn::Set(d8, factor.lo)), hn::Set(d8, factor.span));
  const V16 pairs = hn::BitCast(d16, distance);
  const V16 even = stretched_distance(hn::And(pairs, hn::Set(d16, 0xFF)), factor);
  const V16 odd = stretched_distance(hn::ShiftRight<8>(pairs), factor);
  return hn::BitCast(d8, hn::Or(even, hn::ShiftLeft<8>(odd)));
}

void contrast_rows(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const StretchRange range = stretch_range(call, c);
    if (range.hi > range.lo) {
      const StretchFactor factor = stretch_factor(range.lo, range.hi);
      map_plane(call, band, c, [&](V8 v) HWY_ATTR { return stretched_vector(v, factor); });
    } else {
      map_plane(call, band, c, [](V8 v) HWY_ATTR { return v; });
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(contrast_rows);

void contrast_cpu(const StageCall<Host>& call, const Band& band) {
  if (call.out.type.sample == SampleType::u16) {
    contrast_cpu_to16(call, band);
    return;
  }
  HWY_DYNAMIC_DISPATCH(contrast_rows)(call, band);
}

}  // namespace imgpipe
#endif

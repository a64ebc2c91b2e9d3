// The stretch in single precision, with exact results. A GPU adds and multiplies floats twice as fast as
// integers, and in parallel with the pipe that selects and packs bytes.
#pragma once

#include "kernels/pixel.h"

namespace imgpipe {

// A value v becomes the float 2^15 + v by inserting its byte into a constant. With t = (that - first) *
// scale, limited to 0..1, the lowest byte of 255 t + 2^23 is the result, because a float of that size has no
// fraction.
//
// Rounding: d = v - lo is exact. scale exceeds 1 / span by 2^-22 to 2^-20 of it, and the product is rounded
// by at most 2^-24 of itself. So 255 t exceeds the true quotient 255 d / span by at least 2^-23 of it, which
// rounds halves up, and by less than 255 * 2^-19 < 1 / 2000. Quotients below a half are at least 1 / (2 span)
// >= 1 / 510 below it, so no other value is rounded up.
struct FloatStretch {
  float first, scale;
};
constexpr std::uint32_t kByteInFloat = 0x47000000;  // the float 2^15, with the byte in bits 8..15
constexpr float kByteBias = 32768.0F;
constexpr float kByteRound = 8388608.0F;  // 2^23

// span must be at least 1.
IMGPIPE_HOST_DEVICE constexpr FloatStretch float_stretch(int lo, int span) {
  constexpr float kRoundUpFactor = 1.0F + 1.0F / 2097152.0F;  // 1 + 2^-21
  return {kByteBias + static_cast<float>(lo), 1.0F / static_cast<float>(span) * kRoundUpFactor};
}

// The device's computation, for host tests. The sum is exact in double and rounded once, like fma.
constexpr Sample8 float_stretched(const FloatStretch& f, int v) {
  const float t = (kByteBias + static_cast<float>(v) - f.first) * f.scale;
  const double limited = t < 0 ? 0 : t > 1 ? 1 : static_cast<double>(t);
  const auto rounded = static_cast<float>(limited * kMaxSample + static_cast<double>(kByteRound));
  return static_cast<Sample8>(static_cast<std::uint32_t>(rounded) & 0xFF);
}

}  // namespace imgpipe

// The stretch in single precision, exact all the same. A GPU does additions and multiplications of floats
// twice as fast as those of integers, and beside the pipe that picks and packs bytes.
#pragma once

#include "kernels/pixel.h"

namespace imgpipe {

// A value v becomes the float 2^15 + v by putting its byte into a constant; t = (that - first) * scale,
// limited to 0..1, and 255 t + 2^23 has the result in its lowest byte, because a float of that size has no
// fraction.
//
// Rounding: d = v - lo is exact. scale lies above 1 / span by 2^-22 to 2^-20 of it, and the product is
// rounded by at most 2^-24 of itself, so 255 t lies above the true quotient 255 d / span by at least 2^-23 of
// it, which takes halves up, and by less than 255 * 2^-19 < 1 / 2000, while a quotient below a half lies at
// least 1 / (2 span) >= 1 / 510 below it: nothing else is carried over.
struct FloatStretch {
  float first, scale;
};
constexpr std::uint32_t kByteInFloat = 0x47000000;  // the float 2^15: the byte goes to bits 8..15
constexpr float kByteBias = 32768.0F;
constexpr float kByteRound = 8388608.0F;  // 2^23

// span >= 1.
IMGPIPE_HOST_DEVICE constexpr FloatStretch float_stretch(int lo, int span) {
  constexpr float kALittleMore = 1.0F + 1.0F / 2097152.0F;  // 1 + 2^-21
  return {kByteBias + static_cast<float>(lo), 1.0F / static_cast<float>(span) * kALittleMore};
}

// What the device does, for tests on the host. The sum is exact in double and then rounded once, as by fma.
constexpr Sample8 float_stretched(const FloatStretch& f, int v) {
  const float t = (kByteBias + static_cast<float>(v) - f.first) * f.scale;
  const double limited = t < 0 ? 0 : t > 1 ? 1 : static_cast<double>(t);
  const auto rounded = static_cast<float>(limited * kMaxSample + static_cast<double>(kByteRound));
  return static_cast<Sample8>(static_cast<std::uint32_t>(rounded) & 0xFF);
}

}  // namespace imgpipe

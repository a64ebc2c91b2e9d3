// The stretch of one pixel (docs/pixels.md), for host and device, and contrast's parameters.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/parameter_values.h"
#include "kernels/pixel.h"
#include "kernels/shared/convert.h"

namespace imgpipe {

// A share of the pixels in millionths of a percent, which keeps decimal fractions exact: 0.5 % is 500'000.
using MicroPercent = std::int64_t;
inline constexpr MicroPercent kOnePercent = 1'000'000;

// floor(N p / 100): the number of pixels that may be clipped at one end. Exact for N < 2^36.
IMGPIPE_HOST_DEVICE constexpr std::uint64_t clip_count(std::uint64_t pixels, MicroPercent p) {
  return pixels * static_cast<std::uint64_t>(p) / (100 * static_cast<std::uint64_t>(kOnePercent));
}

// Maps v of type From from lo..hi to the range of To. If hi <= lo, only converts v.
template <class To = Sample8, class From = To>
IMGPIPE_HOST_DEVICE constexpr To stretched(int v, int lo, int hi) {
  using Wide = std::conditional_t<kIsWide<To>, std::int64_t, int>;
  if (hi <= lo) return converted<To>(static_cast<From>(v));
  if (v <= lo) return 0;
  if (v >= hi) return kLargest<To>;
  return static_cast<To>((Wide{v - lo} * 2 * kLargest<To> + (hi - lo)) / (2 * Wide{hi - lo}));
}

// One lo and hi for all colour planes, or one per plane.
enum class Stretch : std::uint8_t { joint, each };
// The sample type of the output.
enum class StretchTo : std::uint8_t { same, u8, u16 };

inline constexpr std::int64_t kMaxClip = 100 * kOnePercent - 1;
struct ContrastParameters {
  explicit constexpr ContrastParameters(const Parameters& values)
      : clip_low(values[0]),
        clip_high(values[1]),
        stretch(values.as<Stretch>(2)),
        to(values.as<StretchTo>(3)) {}
  MicroPercent clip_low, clip_high;
  Stretch stretch;
  StretchTo to;
};

static_assert(clip_count(1000, kOnePercent / 2) == 5);
static_assert(clip_count(199, kOnePercent / 2) == 0);
static_assert(stretched(50, 50, 200) == 0 && stretched(200, 50, 200) == 255 && stretched(0, 50, 200) == 0);
static_assert(stretched(125, 50, 200) == 128);  // (75*510 + 150) / 300 = 128.0: 127.5 rounds up
static_assert(stretched(51, 50, 200) == 2);     // 1.7 rounds to 2
static_assert(stretched(7, 9, 9) == 7 && stretched(7, 9, 3) == 7);
static_assert(stretched<Sample16>(2500, 1000, 4000) == 32768);         // 98'305'500 / 3000, a half
static_assert(stretched<Sample8, Sample16>(2500, 1000, 4000) == 128);  // 127.5
static_assert(stretched<Sample16, Sample8>(51, 50, 200) == 437);       // 436.9
static_assert(stretched<Sample8, Sample16>(9, 9, 9) == 0 && stretched<Sample16, Sample8>(9, 9, 9) == 9 * 257);

}  // namespace imgpipe

// Conversion between samples of 8 and 16 bits (docs/pixels.md), for host and device.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/pixel.h"

namespace imgpipe {

// Rounds to the nearest (65535 = 257 * 255), so that 8 bits survive the round trip.
template <class To, class From>
IMGPIPE_HOST_DEVICE constexpr To converted(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (kIsWide<To>) {
    return static_cast<To>(v * 257U);
  } else {
    return static_cast<To>((v * 255U + 32767U) / 65535U);
  }
}

static_assert(converted<Sample16>(Sample8{255}) == 65535 && converted<Sample16>(Sample8{1}) == 257);
static_assert(converted<Sample8>(Sample16{128}) == 0 && converted<Sample8>(Sample16{129}) == 1);
static_assert(converted<Sample8>(Sample16{65535}) == 255 && converted<Sample8>(Sample16{65407}) == 255 &&
              converted<Sample8>(Sample16{65406}) == 254);

}  // namespace imgpipe

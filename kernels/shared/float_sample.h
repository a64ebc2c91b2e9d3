// The bits of float samples, and the one NaN that arithmetic makes (docs/pixels.md), for host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "images/host_device.h"

namespace imgpipe {

inline constexpr std::uint32_t kNanBits = 0x7FC00000;

IMGPIPE_HOST_DEVICE inline std::uint32_t float_bits(float v) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(v);
#else
  return std::bit_cast<std::uint32_t>(v);
#endif
}

IMGPIPE_HOST_DEVICE inline float float_of_bits(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

// Processors differ in the bits of the NaNs that they make; results always use kNanBits.
IMGPIPE_HOST_DEVICE inline float canonical(float v) {
  return v != v ? float_of_bits(kNanBits) : v;
}

}  // namespace imgpipe

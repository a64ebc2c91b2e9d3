// Device instructions on words of several small numbers, with equivalent host code.
#pragma once

#include <cstdint>

#include "images/host_device.h"

namespace imgpipe {

// Selects four of eight bytes by the four lowest hexadecimal digits of `choice`, the lowest byte's digit
// first. 0 to 3 are the bytes of `a`, 4 to 7 those of `b`.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t select_bytes(std::uint32_t a, std::uint32_t b,
                                                         std::uint32_t choice) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, choice);
#else
  const std::uint64_t all = std::uint64_t{b} << 32 | a;
  std::uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned at = choice >> (4 * i) & 7;
    out |= static_cast<std::uint32_t>(all >> (8 * at) & 0xFF) << (8 * i);
  }
  return out;
#endif
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t saturated_bits(std::int32_t v, std::int32_t least,
                                                           std::int32_t most) {
  return static_cast<std::uint32_t>(v < least ? least : v > most ? most : v);
}

// Packs both values, saturated to signed 16 bits, `low` in the lower half.
IMGPIPE_HOST_DEVICE inline std::uint32_t saturated_pair(std::int32_t low, std::int32_t high) {
#ifdef __CUDA_ARCH__
  std::uint32_t out;
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(out) : "r"(high), "r"(low));
  return out;
#else
  return saturated_bits(high, INT16_MIN, INT16_MAX) << 16 |
         (saturated_bits(low, INT16_MIN, INT16_MAX) & 0xFFFF);
#endif
}

// Packs four values, saturated to signed 8 bits, `a` in the lowest byte.
IMGPIPE_HOST_DEVICE inline std::uint32_t saturated_four(std::int32_t a, std::int32_t b, std::int32_t c,
                                                        std::int32_t d) {
#ifdef __CUDA_ARCH__
  std::uint32_t high;
  std::uint32_t out;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(d), "r"(c));
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(b), "r"(a), "r"(high));
  return out;
#else
  const auto byte = [](std::int32_t v) { return saturated_bits(v, INT8_MIN, INT8_MAX) & 0xFF; };
  return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
#endif
}

// Returns `sum` plus the products of the unsigned bytes of a and b.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t sum_of_byte_products(std::uint32_t a, std::uint32_t b,
                                                                 std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp4a(a, b, sum);
#else
  for (unsigned i = 0; i < 32; i += 8) sum += (a >> i & 0xFF) * (b >> i & 0xFF);
  return sum;
#endif
}

// Returns v + add clamped to 0..most. The sum must not overflow.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t add_clamped(std::int32_t v, std::int32_t add, std::int32_t most) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__viaddmin_s32_relu(v, add, most));
#else
  return saturated_bits(v + add, 0, most);
#endif
}

}  // namespace imgpipe

// The bits of floats of 16 bits, rounded from those of 32-bit floats to the nearest, half to even.
#pragma once

#include <cstdint>

namespace imgpipe {

inline constexpr std::uint32_t kFloatInfinity = 0x7F800000;

// IEEE 754 binary16. 65520 and all greater values become infinite; every NaN becomes 7E00.
[[nodiscard]] constexpr std::uint16_t float16_bits(std::uint32_t bits) {
  constexpr std::uint32_t kOverflowBits = 0x477FF000;                       // 65520
  constexpr std::uint32_t kMinNormalBits = 0x38800000;                      // 2^-14
  constexpr std::uint32_t kBiasDifference = std::uint32_t{127 - 15} << 23;  // of the exponents
  constexpr int kDropped = 23 - 10;                                         // bits of the significand
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > kFloatInfinity) return 0x7E00;
  if (magnitude >= kOverflowBits) return sign | 0x7C00U;
  std::uint32_t digits = magnitude - kBiasDifference;
  int shift = kDropped;
  if (magnitude < kMinNormalBits) {  // a multiple of 2^-24
    shift = 126 - static_cast<int>(magnitude >> 23);
    if (shift > 24) return sign;  // below 2^-25
    digits = (magnitude & 0x7FFFFFU) | 0x800000U;
  }
  const std::uint32_t half = (std::uint32_t{1} << (shift - 1)) - 1 + (digits >> shift & 1U);
  return static_cast<std::uint16_t>(sign | (digits + half) >> shift);
}

// The upper half of a 32-bit float. Every NaN becomes 7FC0.
[[nodiscard]] constexpr std::uint16_t bfloat16_bits(std::uint32_t bits) {
  if ((bits & 0x7FFFFFFFU) > kFloatInfinity) return 0x7FC0;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

static_assert(float16_bits(0x3F800000) == 0x3C00 && float16_bits(0xC0000000) == 0xC000);  // 1, -2
static_assert(float16_bits(0x477FEFFF) == 0x7BFF && float16_bits(0x477FF000) == 0x7C00);  // about 65520
static_assert(float16_bits(0x33000000) == 0 && float16_bits(0x33000001) == 1);            // about 2^-25
static_assert(float16_bits(0x387FE000) == 0x0400 && float16_bits(0x387FC000) == 0x03FF);  // about 2^-14
static_assert(bfloat16_bits(0x3F808000) == 0x3F80 && bfloat16_bits(0x3F818000) == 0x3F82);
static_assert(bfloat16_bits(0x7F7FFFFF) == 0x7F80 && bfloat16_bits(0xFFFFFFFF) == 0x7FC0);

}  // namespace imgpipe

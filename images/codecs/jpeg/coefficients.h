// Decoded coefficients, not yet dequantised, on their way from the entropy decoder to the samples: only those
// that are not zero, 4 bytes each. A photograph of 47 MP has some 7 million; as whole blocks they would take
// 141 MB.
#pragma once

#include <cstdint>

namespace imgpipe {

// An AC coefficient: its value in the upper half, its place in zigzag order (1..63) in the lower. As two's
// complement.
using Coefficient = std::uint32_t;

[[nodiscard]] constexpr Coefficient pack_coefficient(int place, int value) {
  return static_cast<std::uint32_t>(value) << 16 | static_cast<std::uint32_t>(place);
}
[[nodiscard]] constexpr int place_of(Coefficient c) {
  return static_cast<int>(c & 0xFFFF);
}
[[nodiscard]] constexpr std::int16_t value_of(Coefficient c) {
  return static_cast<std::int16_t>(c >> 16);
}

// A block of 8x8, in the order of the scan.
struct CoefficientBlock {
  std::uint32_t end = 0;  // of its AC coefficients in the list; they begin where the block before ends
  std::int32_t dc = 0;    // the sum of the differences since the list's start, or since a restart in it
};

}  // namespace imgpipe

// Decoded coefficients, not yet dequantised: only the non-zero ones, 4 bytes each. A photograph of 47 MP has
// about 7 million; as whole blocks they would take 141 MB.
#pragma once

#include <cstdint>

namespace imgpipe {

// An AC coefficient: value, as two's complement, in the upper half; zigzag index (1..63) in the lowest 6
// bits. The bits between do not matter.
using Coefficient = std::uint32_t;

[[nodiscard]] constexpr Coefficient pack_coefficient(int position, int value) {
  return static_cast<std::uint32_t>(value) << 16 | static_cast<std::uint32_t>(position);
}
[[nodiscard]] constexpr int place_of(Coefficient c) {
  return static_cast<int>(c & 0x3F);
}
[[nodiscard]] constexpr std::int16_t value_of(Coefficient c) {
  return static_cast<std::int16_t>(c >> 16);
}

// A block of 8x8 coefficients. A list has its blocks in scan order.
struct CoefficientBlock {
  std::uint32_t end;  // end of its AC coefficients in the list; they begin at the previous block's end
  std::int32_t dc;    // sum of the differences since the list's start or the last restart in it
};

}  // namespace imgpipe

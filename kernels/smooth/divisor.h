// Divides a window's weighted sum by its weights through multiplication, for the host's vectors.
#pragma once

#include <cstdint>

#include "kernels/shared/window.h"

namespace imgpipe {

// quotient(sum) equals weighted_mean(sum, weights) for every sum that samples of type T can have.
template <class T>
struct SmoothDivisor;

// (sum + add) * factor >> 16 >> shift, for 16-bit sums (at most 255 * 256).
template <>
struct SmoothDivisor<Sample8> {
  std::uint16_t add = 0;
  std::uint16_t factor = 0;
  int shift = 0;

  [[nodiscard]] constexpr std::uint32_t quotient(std::uint32_t sum) const {
    return ((sum + add) & 0xFFFF) * factor >> 16 >> shift;
  }

  // Division by a constant (Granlund and Montgomery, 1994): the factor is 2^k / weights rounded up or, if
  // that needs more than 16 bits, rounded down with the dividend increased by one.
  static constexpr SmoothDivisor of(std::uint32_t weights) {
    const std::uint32_t most = 255 * weights + weights / 2;
    for (int bits = 0; bits < 9; ++bits) {
      const std::uint64_t power = std::uint64_t{1} << (16 + bits);
      const std::uint64_t down = power / weights;
      const std::uint64_t over = (down + 1) * weights - power;
      const std::uint64_t under = power - down * weights;
      if (under == 0 && down < 65536)
        return {static_cast<std::uint16_t>(weights / 2), static_cast<std::uint16_t>(down), bits};
      if (over * most < power && down + 1 < 65536)
        return {static_cast<std::uint16_t>(weights / 2), static_cast<std::uint16_t>(down + 1), bits};
      if ((most + 1) * under <= power && down < 65536)
        return {static_cast<std::uint16_t>(weights / 2 + 1), static_cast<std::uint16_t>(down), bits};
    }
    return {};
  }
};

// (sum + add) * factor >> 32, for 32-bit sums (at most 65535 * 256) and weights from 5 to 256. factor is 2^32
// / weights rounded up, so factor * weights exceeds 2^32 by less than weights, and (sum + add) * factor
// exceeds (sum + add) * 2^32 / weights by less than sum + add < 2^24 <= 2^32 / weights. Therefore no quotient
// reaches the next integer (Granlund and Montgomery, 1994).
template <>
struct SmoothDivisor<Sample16> {
  std::uint32_t add = 0;
  std::uint32_t factor = 0;

  [[nodiscard]] constexpr std::uint32_t quotient(std::uint32_t sum) const {
    return static_cast<std::uint32_t>(std::uint64_t{sum + add} * factor >> 32);
  }

  static constexpr SmoothDivisor of(std::uint32_t weights) {
    return {weights / 2, static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + weights - 1) / weights)};
  }
};

template <class T>
constexpr bool divides_by(std::uint32_t weights) {
  constexpr std::uint32_t kWhite = kLargest<T>;
  const auto divisor = SmoothDivisor<T>::of(weights);
  for (const std::uint32_t mean : {0U, 1U, 2U, kWhite / 2, kWhite - 2, kWhite - 1, kWhite}) {
    for (const std::uint32_t off : {0U, 1U}) {  // on both sides of the rounding boundary
      const std::uint32_t sum = mean * weights + (weights + 1) / 2 - 1 + off;
      if (sum <= kWhite * weights && divisor.quotient(sum) != weighted_mean<T>(sum, weights)) return false;
    }
  }
  return divisor.factor != 0;
}

// Checks every sum of weights that an image can have: one to five taps inside along each axis, three windows.
template <class T>
constexpr bool divides_by_all_weights() {
  for (const std::uint32_t weights :
       {5U, 10U, 15U, 20U, 25U, 27U, 45U, 54U, 63U, 72U, 81U, 96U, 160U, 176U, 224U, 240U, 256U}) {
    if (!divides_by<T>(weights)) return false;
  }
  return true;
}
static_assert(divides_by_all_weights<Sample8>() && divides_by_all_weights<Sample16>());

}  // namespace imgpipe

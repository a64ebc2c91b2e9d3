// The values of a step's parameters: a kernel's argument as it stands. Their rows are in
// kernels/parameters.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace imgpipe {

inline constexpr std::size_t kMostParameters = 6;
// A decimal parameter counts millionths: 0.5 is 500'000. Decimal fractions stay exact.
inline constexpr std::int64_t kDecimalOne = 1'000'000;

// In the order of the rows of its stage.
struct Parameters {
  std::array<std::int64_t, kMostParameters> values{};

  [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const { return values[i]; }
  // A choice as the enumeration whose values are the positions of its words.
  template <class Enum>
  [[nodiscard]] constexpr Enum as(std::size_t i) const {
    return static_cast<Enum>(values[i]);
  }
  friend constexpr bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace imgpipe

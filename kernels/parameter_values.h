// The values of a step's parameters, as passed to kernels. Their descriptions: kernels/parameters.h.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace imgpipe {

inline constexpr std::size_t kMaxParameters = 12;
// A decimal parameter counts millionths, which keeps decimal fractions exact: 0.5 is 500'000.
inline constexpr std::int64_t kDecimalOne = 1'000'000;
// The value of a parameter whose text names an image.
inline constexpr std::int64_t kOfImage = -1;

struct SecondImage;

// The values are in the order of the stage's rows.
struct Parameters {
  std::array<std::int64_t, kMaxParameters> values{};
  const SecondImage* image = nullptr;  // that the step reads besides the image that it processes

  [[nodiscard]] constexpr std::int64_t operator[](std::size_t i) const { return values[i]; }
  // A choice as an enumeration whose values are the positions of its words.
  template <class Enum>
  [[nodiscard]] constexpr Enum as(std::size_t i) const {
    return static_cast<Enum>(values[i]);
  }
  // A real, which is stored as the bits of a double.
  [[nodiscard]] constexpr double real(std::size_t i) const { return std::bit_cast<double>(values[i]); }
  friend constexpr bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace imgpipe

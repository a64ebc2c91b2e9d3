// Unsigned integers wide enough for exact sums of products of floats.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/statistics/exact.h"

namespace imgpipe {

// The results of all functions must fit into kBits bits.
class WideInteger {
 public:
  static constexpr int kBits = 768;

  WideInteger() = default;
  explicit WideInteger(std::uint64_t value) { words_[0] = value; }

  // Adds value * 2^shift; shift >= 0.
  void add_shifted(Uint128 value, int shift);
  // `smaller` must not exceed this.
  void subtract(const WideInteger& smaller);
  [[nodiscard]] WideInteger operator*(const WideInteger& other) const;
  [[nodiscard]] bool operator<(const WideInteger& other) const;
  // Returns this * 2^exponent, rounded once to the nearest double, ties to even; the result must be 0 or
  // normal.
  [[nodiscard]] double scaled(int exponent) const;

 private:
  static constexpr std::size_t kWords = kBits / 64;
  std::array<std::uint64_t, kWords> words_{};  // the least significant first
};

}  // namespace imgpipe

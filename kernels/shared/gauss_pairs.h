// Gaussian weights in pairs of adjacent taps, for instructions that add two signed 16-bit products.
#pragma once

#include <array>

#include "kernels/shared/gauss_weights.h"

namespace imgpipe {

// Pair i weights taps at[i] and at[i] + 1 with the lower and upper half of weights[i]; tap `radius` is the
// centre. The tap after the last has weight 0. The part of the centre weight above 32767 has a separate pair.
struct GaussPairs {
  GaussPairs(const std::uint32_t* table, int reach) : radius(reach) {
    const auto weight = [&](int tap) {
      const int distance = tap < radius ? radius - tap : tap - radius;
      const std::uint32_t whole = distance > radius ? 0 : table[distance];
      return whole < kMost ? whole : kMost;
    };
    for (int tap = 0; tap <= 2 * radius; tap += 2) add(tap, weight(tap) | weight(tap + 1) << 16);
    if (table[0] > kMost) add(radius, table[0] - kMost);
  }

  int radius;
  int count = 0;
  std::array<int, kMaxGaussRadius + 2> at{};
  std::array<std::uint32_t, kMaxGaussRadius + 2> weights{};

 private:
  static constexpr std::uint32_t kMost = 32767;
  void add(int tap, std::uint32_t both) {
    at[static_cast<std::size_t>(count)] = tap;
    weights[static_cast<std::size_t>(count++)] = both;
  }
};

}  // namespace imgpipe

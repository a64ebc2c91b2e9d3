// Random numbers by position, the same on every machine.
#pragma once

#include <cstdint>

namespace imgpipe {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014) gives a random number for every counter value, so
// that a sample depends on its position only, not on the order in which samples are made.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}
static_assert(mix(0) == 0xE220A8397B1DCDAFU);  // first output of SplitMix64 seeded with 0

}  // namespace imgpipe

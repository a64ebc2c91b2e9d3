// Where 65,536 entries of 16 bits lie in shared memory, so that samples that have something in common do not
// meet in a bank: samples of 12 bits in 16 have zeros at the lower end, neighbouring samples often the same
// upper bits, and neither may choose the bank alone.
//
//   value    bit 0: the half of a word     bits 1..5, mixed with 6..10 and 11..15: the bank     bits 6..
#pragma once

#include <cstdint>

namespace imgpipe {

// Two samples, as they lie in a word, with their banks mixed. Mixed twice they are what they were.
__device__ __forceinline__ std::uint32_t mixed_banks(std::uint32_t two) {
  constexpr std::uint32_t kBanks = 0x003E003E;
  return two ^ (two >> 5 & kBanks) ^ (two >> 10 & kBanks);
}

}  // namespace imgpipe

// The arrangement of 65,536 16-bit entries in shared memory, such that similar samples use different banks.
// 12-bit samples in 16 bits have zeros at the lower end, and adjacent samples often share their upper bits,
// so neither part may select the bank alone.
//
//   value    bit 0: the half of a word     bits 1..5, mixed with 6..10 and 11..15: the bank     bits 6..
#pragma once

#include <cstdint>

namespace imgpipe {

// Mixes the banks of two samples in a word. It is its own inverse.
__device__ __forceinline__ std::uint32_t mixed_banks(std::uint32_t two) {
  constexpr std::uint32_t kBanks = 0x003E003E;
  return two ^ (two >> 5 & kBanks) ^ (two >> 10 & kBanks);
}

}  // namespace imgpipe

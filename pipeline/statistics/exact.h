// Quotients and roots of large integers, rounded once.
#pragma once

#include <cstdint>

namespace imgpipe {

// 128 bits, an extension of GCC and Clang.
__extension__ using Uint128 = unsigned __int128;
__extension__ using SignedWide = __int128;

// Returns numerator / denominator (not 0), rounded once to the nearest double, ties to even.
[[nodiscard]] double rounded_ratio(std::uint64_t numerator, std::uint64_t denominator);

// Returns sqrt(radicand) / divisor, rounded once to the nearest double, ties to even. The divisor must not be
// 0, the radicand must be below 2^127, the result below 2^52.
[[nodiscard]] double rounded_root(Uint128 radicand, std::uint64_t divisor);

}  // namespace imgpipe

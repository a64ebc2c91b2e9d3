// Quotients and roots of large integers, rounded once.
#pragma once

#include <cstdint>

namespace imgpipe {

// 128 bits, which GCC and Clang have beside the standard's integers.
__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

// numerator / denominator, rounded once to the nearest double, ties to even. The denominator is not 0.
[[nodiscard]] double rounded_ratio(std::uint64_t numerator, std::uint64_t denominator);

// sqrt(radicand) / divisor, rounded once to the nearest double, ties to even. The divisor is not 0; the
// radicand is below 2^127, the result below 2^52.
[[nodiscard]] double rounded_root(Wide radicand, std::uint64_t divisor);

}  // namespace imgpipe

// Which SIMD instructions the host's code uses. Every loop in Highway is built for all of this architecture's
// instruction sets; the best one that the processor has is taken at run time
// (https://github.com/google/highway).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// The instruction sets that this build has and this processor can run, best first, by Highway's names: "AVX3"
// (AVX-512), "AVX2", "SSE4", "NEON"... Never empty: the last one needs nothing special.
[[nodiscard]] std::vector<std::string> simd_targets();

// The one in use.
[[nodiscard]] std::string simd_target();

// Takes the one of that name, ignoring case, for the whole process from now on; "" is the best one. Call it
// while no other thread works. Throws Error(usage) for a name that is unknown or not in simd_targets().
void use_simd(std::string_view name);

// "Highway 1.0.3".
[[nodiscard]] std::string simd_version();

}  // namespace imgpipe

// The SIMD instruction set of the host code. Highway (https://github.com/google/highway) compiles every loop
// for all instruction sets; the best one that the processor supports is selected at run time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// Returns the instruction sets that this build contains and this processor supports, best first, by their
// Highway names: "AVX3" (AVX-512), "AVX2", "SSE4", "NEON"... Never empty: the last one needs nothing special.
[[nodiscard]] std::vector<std::string> simd_targets();

[[nodiscard]] std::string simd_target();

// Selects the named instruction set, ignoring case, for the whole process; "" selects the best. Call it while
// no other thread works. Throws Error(usage) for a name that is not in simd_targets().
void use_simd(std::string_view name);

// Returns the name and version of the SIMD library: "Highway 1.0.3".
[[nodiscard]] std::string simd_version();

}  // namespace imgpipe

// NVIDIA Performance Primitives, as yardsticks. Built where the toolkit has their headers, and loaded when
// the lab first asks for them, so that the program runs without them too.
#pragma once

namespace imgpipe {

// nullptr, or why they cannot be used here.
[[nodiscard]] const char* npp_missing();

}  // namespace imgpipe

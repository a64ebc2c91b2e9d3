#pragma once

#include <string>

namespace imgpipe {

struct Rung;

// Returns what the current CUDA device lacks for the variant, or "". Only for CUDA builds.
[[nodiscard]] std::string device_lacks(const Rung& rung);

}  // namespace imgpipe

#pragma once

#include <string>

namespace imgpipe {

struct StageVariant;

// Returns what the current CUDA device lacks for the variant, or "". Only for CUDA builds.
[[nodiscard]] std::string missing_device_feature(const StageVariant& variant);

}  // namespace imgpipe

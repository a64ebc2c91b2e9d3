// What a rung asks of the device that it runs on.
#pragma once

#include <string>

namespace imgpipe {

struct Rung;

// What the present CUDA device lacks for the rung; "" when it has all. In a build with CUDA only.
[[nodiscard]] std::string device_lacks(const Rung& rung);

}  // namespace imgpipe

// Alignment of sizes and offsets.
#pragma once

#include <type_traits>

#include "images/host_device.h"

namespace imgpipe {

// Returns the least multiple of `step` (> 0) that is at least `value` (>= 0).
template <class T>
IMGPIPE_HOST_DEVICE constexpr T rounded_up(T value, std::type_identity_t<T> step) {
  return (value + step - 1) / step * step;
}

}  // namespace imgpipe

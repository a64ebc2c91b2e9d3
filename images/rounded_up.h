// Alignment of sizes and offsets.
#pragma once

#include <type_traits>

#include "images/host_device.h"

namespace imgpipe {

// The least multiple of `step` (above 0) that is at least `value` (at least 0).
template <class T>
IMGPIPE_HOST_DEVICE constexpr T rounded_up(T value, std::type_identity_t<T> step) {
  return (value + step - 1) / step * step;
}

}  // namespace imgpipe

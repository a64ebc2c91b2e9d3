// The sum of a window of floats along one axis, for host and device.
#pragma once

#include "kernels/shared/window.h"

namespace imgpipe {

// Returns the weighted sum of five samples, or of five such sums. Ignored taps are +0.
template <Window W>
IMGPIPE_HOST_DEVICE constexpr float float_taps(float a, float b, float c, float d, float e) {
  const float outer = a + e;
  const float inner = b + d;
  if constexpr (W == Window::triangle) return (outer + 2.0F * inner) + 3.0F * c;
  if constexpr (W == Window::gauss) return (outer + 4.0F * inner) + 6.0F * c;
  return (outer + inner) + c;
}

}  // namespace imgpipe

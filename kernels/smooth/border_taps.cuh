// The window of a pixel near the border, along one axis.
#pragma once

#include "kernels/shared/window.h"

namespace imgpipe {

// The coordinates and weights of the taps along one axis. A tap that does not count still reads the nearest
// coordinate inside: without branches, all 25 loads are in flight together.
template <Window W>
struct BorderTaps {
  int at[kTaps];
  std::uint32_t weight[kTaps];

  __device__ BorderTaps(int center, int size, Border border) {
    constexpr int kOuter = 1;
    constexpr int kInner = W == Window::box ? 1 : W == Window::triangle ? 2 : 4;
    constexpr int kMiddle = W == Window::box ? 1 : W == Window::triangle ? 3 : 6;
    constexpr int kRow[kTaps] = {kOuter, kInner, kMiddle, kInner, kOuter};
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      const int wanted = center + i - kRadius;
      const bool inside = wanted >= 0 && wanted < size;
      at[i] = min(max(wanted, 0), size - 1);
      if (!inside && border == Border::reflect) at[i] = static_cast<int>(reflected(wanted, size));
      weight[i] = inside || border != Border::shrink ? static_cast<std::uint32_t>(kRow[i]) : 0U;
    }
  }
};

}  // namespace imgpipe

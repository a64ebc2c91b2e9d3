// The rows of a window, for host loops.
#pragma once

#include <cstdint>

#include "kernels/shared/window.h"

namespace imgpipe {

// Length of kZeroSamples, which replaces ignored rows beyond the image.
inline constexpr std::int64_t kMaxZeroSamples = 4096 + 512;
template <class T>
alignas(64) inline constexpr T kZeroSamples[kMaxZeroSamples] = {};

// The five rows of a window, and their total weight.
template <class T>
struct WindowRows {
  const T* row[kTaps];  // nullptr: ignored
  std::uint32_t weights = 0;
  std::int64_t ahead = 0;  // samples from the last row to the one after it
};

template <class T>
WindowRows<T> window_rows(const Plane<const T, Host>& in, std::int64_t in_top, std::int64_t y,
                          std::int64_t height, Border border, const Taps& taps) {
  WindowRows<T> rows{};
  rows.ahead = in.stride;
  const bool is_inside =
      y >= kRadius && y + kRadius < height;  // divisions would take longer than a short row
  for (int i = 0; i < kTaps; ++i) {
    std::int64_t from = y + i - kRadius;
    if (!is_inside && border == Border::replicate) from = replicated(from, height);
    if (!is_inside && border == Border::reflect) from = reflected(from, height);
    if (from < 0 || from >= height) continue;
    rows.row[i] = in.row(from - in_top);
    rows.weights += static_cast<std::uint32_t>(taps[static_cast<std::size_t>(i)]);
  }
  return rows;
}

}  // namespace imgpipe

// sobel: the magnitude of the gradient, from the differences along both axes of the 3x3 neighbourhood,
// weighted 1 2 1 across (Duda and Hart, Pattern Classification and Scene Analysis, 1973, 7.2, after Sobel).
// Beyond the border the image is reflected at the edge pixel. dx and dy equal those of OpenCV's Sobel().
#pragma once

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// l2: sqrt(dx^2 + dy^2), l1: |dx| + |dy|.
enum class GradientNorm : std::uint8_t { l2, l1 };

struct SobelParameters {
  explicit constexpr SobelParameters(const Parameters& values) : norm(values.as<GradientNorm>(0)) {}
  GradientNorm norm;
};

// ---- the arithmetic, in integers ----------------------------------------------------------------------

// Returns the rounded square root. It is never a half: (r + 1/2)^2 is not an integer.
constexpr std::uint64_t rounded_root(std::uint64_t square) {
  std::uint64_t root = 0;  // floor of the root, bit by bit
  for (int bit = 31; bit >= 0; --bit) {
    const std::uint64_t more = root | std::uint64_t{1} << bit;
    if (more * more <= square) root = more;
  }
  return square > root * root + root ? root + 1 : root;
}

constexpr int gradient(std::int64_t dx, std::int64_t dy, GradientNorm norm, int max_value) {
  const std::int64_t sum = (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
  const std::int64_t size =
      norm == GradientNorm::l1
          ? sum
          : static_cast<std::int64_t>(rounded_root(static_cast<std::uint64_t>(dx * dx + dy * dy)));
  return static_cast<int>(size > max_value ? max_value : size);
}

static_assert(rounded_root(0) == 0 && rounded_root(2) == 1 && rounded_root(3) == 2 && rounded_root(6) == 2);
static_assert(rounded_root(7) == 3 && rounded_root(std::uint64_t{262140} * 262140) == 262140);
static_assert(gradient(3, -4, GradientNorm::l2, 255) == 5 && gradient(3, -4, GradientNorm::l1, 255) == 7);
static_assert(gradient(1020, 1020, GradientNorm::l2, 255) == 255 &&
              gradient(180, 181, GradientNorm::l2, 255) == 255);
static_assert(gradient(180, 180, GradientNorm::l2, 255) == 255 &&
              gradient(179, 181, GradientNorm::l2, 255) == 255);
static_assert(gradient(180, 179, GradientNorm::l2, 255) == 254);  // 253.85

// ---- the stage --------------------------------------------------------------------------------------

// Returns the output's rows and one more above and below, limited to the image.
[[nodiscard]] RowRange sobel_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: planar, same shape, at least 1x1.
void sobel_reference(const StageCall<Host>& call);

// The same in SIMD. `in` must hold the band's rows and one more above and below, limited to the image.
void sobel_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus sobel_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe

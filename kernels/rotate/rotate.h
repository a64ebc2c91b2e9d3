// Rotates the image, alpha included, clockwise by right angles, exactly; 90 and 270 degrees swap width and
// height. Equals ImageMagick's -rotate, cv2.rotate() and Pillow's transpose(), whose ROTATE_270, 180 and 90
// are counterclockwise.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

enum class RotateAngle : std::uint8_t { by_90, by_180, by_270 };

struct RotateParameters {
  explicit constexpr RotateParameters(const Parameters& values) : angle(values.as<RotateAngle>(0)) {}
  RotateAngle angle;
};

struct PixelPosition {
  std::int64_t x = 0, y = 0;
  friend constexpr bool operator==(const PixelPosition&, const PixelPosition&) = default;
};

// Returns the source of output pixel `to` in an input of width x height pixels.
[[nodiscard]] constexpr PixelPosition rotated_from(RotateAngle angle, std::int64_t width, std::int64_t height,
                                                   const PixelPosition& to) {
  switch (angle) {
    case RotateAngle::by_90:
      return {to.y, height - 1 - to.x};
    case RotateAngle::by_180:
      return {width - 1 - to.x, height - 1 - to.y};
    case RotateAngle::by_270:
      break;
  }
  return {width - 1 - to.y, to.x};
}
// In an image of 3x2 pixels, 90, 180 and 270 degrees move the upper left pixel to the upper right, the lower
// right and the lower left corner, respectively.
static_assert(rotated_from(RotateAngle::by_90, 3, 2, {1, 0}) == PixelPosition{0, 0});
static_assert(rotated_from(RotateAngle::by_180, 3, 2, {2, 1}) == PixelPosition{0, 0});
static_assert(rotated_from(RotateAngle::by_270, 3, 2, {0, 2}) == PixelPosition{0, 0});
static_assert(rotated_from(RotateAngle::by_90, 3, 2, {0, 2}) == PixelPosition{2, 1});
static_assert(rotated_from(RotateAngle::by_270, 3, 2, {1, 0}) == PixelPosition{2, 1});

[[nodiscard]] std::string_view rotate_infer(const FrameType& in, const Parameters&, FrameType& out);

// in, out: of either layout and any sample type.
void rotate_reference(const StageCall<Host>& call);

void rotate_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus rotate_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe

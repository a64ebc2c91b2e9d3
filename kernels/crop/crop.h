// A rectangle inside the image: out(x, y) = in(x + left, y + top), for all channels including alpha. Without
// offsets it is centred: left = (in.width - width) / 2, rounded down; top likewise. ImageMagick's -crop
// WxH+X+Y +repage.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr std::int64_t kCropCenter = -1;  // the value of the word "center"
struct CropParameters {
  explicit constexpr CropParameters(const Parameters& values)
      : width(values[0]), height(values[1]), x(values[2]), y(values[3]) {}
  std::int64_t width, height;
  std::int64_t x, y;  // or kCropCenter
};

// Returns the offset of a range of `size` pixels in a side of `of` pixels.
[[nodiscard]] constexpr std::int64_t crop_offset(std::int64_t wanted, std::int64_t size, std::int64_t of) {
  return wanted == kCropCenter ? (of - size) / 2 : wanted;
}
static_assert(crop_offset(kCropCenter, 3, 8) == 2 && crop_offset(kCropCenter, 8, 8) == 0);
static_assert(crop_offset(0, 3, 8) == 0 && crop_offset(5, 3, 8) == 5);

// Skips rectangles that cover the whole image.
[[nodiscard]] std::string_view crop_skip_reason(const FrameType& in, const Parameters& parameters);
// The rectangle must be inside the image.
[[nodiscard]] std::string_view crop_infer(const FrameType& in, const Parameters&, FrameType& out);
[[nodiscard]] RowRange crop_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: either layout, any sample type; the rectangle is inside the image.
void crop_reference(const StageCall<Host>& call);

// The same, row by row; copying needs no SIMD code.
void crop_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus crop_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe

// A rectangle of the image: out(x, y) = in(x + left, y + top), for all channels including alpha, as in
// ImageMagick's -crop WxH+X+Y +repage. Without offsets it is centred by the parameter `rule`, as in the
// center_crop of transformers or torchvision. With `pad`, it may extend beyond the image.
#pragma once

#include "kernels/shared/canvas.h"
#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr std::int64_t kCropCenter = -1;  // the value of the word "center"
inline constexpr std::int64_t kNoPadding = -1;   // the value of the word "none"
enum class CenterRule : std::uint8_t { transformers, torchvision };

struct CropParameters {
  explicit constexpr CropParameters(const Parameters& values)
      : width(values[0]),
        height(values[1]),
        x(values[2]),
        y(values[3]),
        rule(values.as<CenterRule>(4)),
        pad(values[5]) {}
  std::int64_t width, height;
  std::int64_t x, y;  // or kCropCenter
  CenterRule rule;
  std::int64_t pad;  // a colour, or kNoPadding
};

// Returns the offset of a range of `size` pixels in a side of `of` pixels.
[[nodiscard]] constexpr std::int64_t crop_offset(CenterRule rule, std::int64_t wanted, std::int64_t size,
                                                 std::int64_t of) {
  if (wanted != kCropCenter) return wanted;
  switch (rule) {
    case CenterRule::transformers:
      return (of - size) >> 1;
    case CenterRule::torchvision:
      return of < size ? -((size - of) / 2) : half_rounded_to_even(of - size);
  }
  unreachable();
}
static_assert(crop_offset(CenterRule::transformers, kCropCenter, 3, 8) == 2 &&
              crop_offset(CenterRule::transformers, kCropCenter, 8, 3) == -3);
static_assert(crop_offset(CenterRule::torchvision, kCropCenter, 5, 8) == 2 &&
              crop_offset(CenterRule::torchvision, kCropCenter, 7, 8) == 0 &&
              crop_offset(CenterRule::torchvision, kCropCenter, 8, 3) == -2);
static_assert(crop_offset(CenterRule::transformers, 5, 3, 8) == 5);

[[nodiscard]] constexpr Canvas crop_canvas(const FrameType& in, const Parameters& parameters) {
  const CropParameters wanted(parameters);
  return {crop_offset(wanted.rule, wanted.x, wanted.width, in.width),
          crop_offset(wanted.rule, wanted.y, wanted.height, in.height), wanted.pad};
}

// Skips rectangles that cover the whole image.
[[nodiscard]] std::string_view crop_skip_reason(const FrameType& in, const Parameters& parameters);
// Without padding, the rectangle must be inside the image.
[[nodiscard]] std::string_view crop_infer(const FrameType& in, const Parameters&, FrameType& out);
[[nodiscard]] RowRange crop_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: either layout, any sample type.
void crop_reference(const StageCall<Host>& call);

// The same, row by row; copying needs no SIMD code.
void crop_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus crop_cuda(DeviceCalls calls, const CudaLaunch& launch);

}  // namespace imgpipe

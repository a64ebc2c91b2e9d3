// Resizes: computes each output pixel from the input pixels around the same position. Input (for fit=cover, a
// part of it) and output cover the same rectangle; both axes are treated alike. With n input and m output
// pixels on an axis:
//
//   nearest   pixel floor(c(x)) of the input, c(0) = s / 2, c(x) = c(x - 1) + s, s = n / m in doubles:
//             Pillow's NEAREST (ImagingTransformAffine in Geometry.c) and, from version 5.0, OpenCV's
//             INTER_NEAREST_EXACT (resizeNN_bitexact). Except for rounding of the sum where c(x) is whole,
//             that is floor((2x + 1) n / 2m).
//   linear    OpenCV's INTER_LINEAR_EXACT (resize_bitExact with interpolationLinear): with
//             p = (x + 1/2) / (m / n) - 1/2 in doubles, share = 256 (p - floor(p)) rounded half to even,
//             value = (256 - share) v[floor(p)] + share v[floor(p) + 1] (16 bits: 65536 instead of 256); only
//             the first or last pixel if p is beyond its centre. Both axes' products are summed exactly and
//             rounded half up, once.
//   area      the mean of the area that the output pixel covers, exact and rounded half up:
//             sum of v * covered width * covered height / (n_x n_y), lengths in 1/m of an input pixel.
//             If both n are multiples of m, it is rounded as in OpenCV's INTER_AREA (resizeAreaFast_):
//             2x2: (sum + 2) >> 2, else float(sum) * (1.f / pixels) to nearest, half to even (16 bits: up to
//             256 pixels, whose sum a float holds exactly; half up for more).
//             Enlarging uses the same mean, so that whole factors repeat pixels.
//
//   box, bilinear, hamming, bicubic, lanczos
//             Pillow's filters of the same names (Resample.c) for 8 and 16 bits: two passes of weighted sums,
//             kernels/resize/filter_axis.h. Colours of 8 bits with alpha are premultiplied.
//
// Floats have separate weights, and sums in a fixed order: kernels/resize/float_axis.h. No filter accepts
// them.
#pragma once

#include <optional>

#include "kernels/resize/axis.h"
#include "kernels/resize/filter_axis.h"
#include "kernels/stage_call.h"

namespace imgpipe {

enum class ResizeMethod : std::uint8_t { linear, area, nearest, box, bilinear, hamming, bicubic, lanczos };

// Returns the filter that the method names; nullopt: the method is not a filter.
[[nodiscard]] constexpr std::optional<Filter> filter_of(ResizeMethod method) {
  switch (method) {
    case ResizeMethod::linear:
    case ResizeMethod::area:
    case ResizeMethod::nearest:
      return std::nullopt;
    case ResizeMethod::box:
      return Filter::box;
    case ResizeMethod::bilinear:
      return Filter::bilinear;
    case ResizeMethod::hamming:
      return Filter::hamming;
    case ResizeMethod::bicubic:
      return Filter::bicubic;
    case ResizeMethod::lanczos:
      return Filter::lanczos;
  }
  unreachable();
}
[[nodiscard]] constexpr bool is_filter(ResizeMethod method) {
  return filter_of(method).has_value();
}

// How the image fills width x height. exact: stretched to that size. inside: the largest size within it that
// keeps the proportions. cover: that size, from the largest part of the image with its proportions
// (ImageOps.fit). contain: a size within it, for a canvas of that size (ImageOps.pad).
enum class ResizeFit : std::uint8_t { exact, inside, cover, contain };
// The library whose rounding applies to `shortest` and `longest`.
enum class ResizeSizes : std::uint8_t { transformers, torchvision, pillow };

inline constexpr std::int64_t kMaxResizeSide = 1'000'000;
inline constexpr std::int64_t kMaxResizePercent = 100'000 * kDecimalOne;

// Sides and a percentage of 0 are not given.
struct ResizeParameters {
  static constexpr std::int64_t kNoBackground = 0;  // transparent, or black

  explicit constexpr ResizeParameters(const Parameters& values)
      : width(values[0]),
        height(values[1]),
        method(values.as<ResizeMethod>(2)),
        fit(values.as<ResizeFit>(3)),
        shortest(values[4]),
        longest(values[5]),
        percent(values[6]),
        rule(values.as<FilterRule>(7)),
        sizes(values.as<ResizeSizes>(8)),
        background(values[9]) {}
  std::int64_t width, height;
  ResizeMethod method;
  ResizeFit fit;
  std::int64_t shortest, longest;
  std::int64_t percent;  // in millionths
  FilterRule rule;
  ResizeSizes sizes;
  std::int64_t background;  // 0xRRGGBBAA, of the canvas of `contain`
};

// One kind of size must be given: sides, edges or a percentage.
[[nodiscard]] std::string_view resize_problem(const Parameters& parameters);
// An image that already has the size needs no resizing.
[[nodiscard]] std::string_view resize_skip_reason(const FrameType& in, const Parameters& parameters);
// Returns the new size (docs/pixels.md#resize), at least 1 and below 2^31 per side.
[[nodiscard]] FrameType resize_output(const FrameType& in, const Parameters& parameters);
// Returns the passes of a resize by a filter; the method must be one.
[[nodiscard]] Resampling resampling_of(const FrameType& in, const Parameters& parameters);
[[nodiscard]] std::string_view resize_infer(const FrameType& in, const Parameters&, FrameType& out);
// Whether resize_cpu() also accepts interleaved RGB.
[[nodiscard]] bool resize_rgb_on_cpu(const FrameType& in, const Parameters& parameters);
// The source rows of the output's rows; for nearest, one or two more.
[[nodiscard]] RowRange resize_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// A table for each axis: 8 bytes per output column or row, or a filter's table (filter_axis.h).
[[nodiscard]] std::int64_t resize_table_bytes(const FrameType& in, const Parameters& parameters);
void resize_table(const StageCall<Host>& call, const Band& band);

// in, out: planar, of any size from 1x1, sides below 2^31; alpha is a plane like the others.
void resize_reference(const StageCall<Host>& call);
void resize_filter_reference(const StageCall<Host>& call);
void resize_f32_reference(const StageCall<Host>& call);

// The same in SIMD. `in` holds the rows that resize_needs() returns.
void resize_cpu(const StageCall<Host>& call, const Band& band);
void resize_filter_cpu(const StageCall<Host>& call, const Band& band);
void resize_f32_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus resize_cuda(DeviceCalls calls, const CudaLaunch& launch);
CudaStatus resize_filter_cuda(DeviceCalls calls, const CudaLaunch& launch);
CudaStatus resize_f32_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe

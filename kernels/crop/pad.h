// The image on a larger canvas of one colour, alpha included: Pillow's ImageOps.pad without its resizing.
#pragma once

#include "kernels/shared/canvas.h"
#include "kernels/stage_call.h"

namespace imgpipe {

enum class PadPosition : std::uint8_t {
  center,
  left,
  right,
  top,
  bottom,
  top_left,
  top_right,
  bottom_left,
  bottom_right
};

struct PadParameters {
  explicit constexpr PadParameters(const Parameters& values)
      : width(values[0]), height(values[1]), color(values[2]), position(values.as<PadPosition>(3)) {}
  std::int64_t width, height;
  std::int64_t color;  // kernels/shared/color.h
  PadPosition position;
};

// Positions name the sides of the canvas that the image touches; it is centred between the others.
[[nodiscard]] Canvas pad_canvas(const FrameType& in, const Parameters& parameters);

// Skips images that have the size of the canvas.
[[nodiscard]] std::string_view pad_skip_reason(const FrameType& in, const Parameters& parameters);
// The canvas must not be smaller than the image.
[[nodiscard]] std::string_view pad_infer(const FrameType& in, const Parameters&, FrameType& out);
[[nodiscard]] RowRange pad_needs(const FrameType& in, const Parameters& parameters, RowRange out);

// in, out: either layout, any sample type.
void pad_reference(const StageCall<Host>& call);

void pad_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus pad_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe

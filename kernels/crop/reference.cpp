#include "kernels/crop/crop.h"
#include "kernels/crop/pad.h"
#include "kernels/shared/color.h"
#include "kernels/shared/moved_planes.h"

namespace imgpipe {
namespace {

template <class T>
void canvas_plane(const Plane<const T, Host>& in, const Plane<T, Host>& out, const Canvas& canvas,
                  const T* color) {
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x) {
      const std::int64_t from_x = x + canvas.left, from_y = y + canvas.top;
      const bool inside = from_x >= 0 && from_x < in.width && from_y >= 0 && from_y < in.height;
      const T* pixel = inside ? in.row(from_y) + from_x * in.channels : color;
      for (int c = 0; c < out.channels; ++c) out.row(y)[x * out.channels + c] = pixel[c];
    }
  }
}

template <class T>
void canvas_planes(const StageCall<Host>& call, const Canvas& canvas) {
  const FrameType& type = call.in.type;
  T color[4];
  for (int c = 0; c < type.channels(); ++c) color[c] = color_sample<T>(canvas.color, type, c);
  for (int i = 0; i < moved_planes(type); ++i) {
    const std::size_t plane = plane_of_channel(type, i);
    canvas_plane<T>(call.in.plane<T>(plane), call.out.plane<T>(plane), canvas, color + i);
  }
}

void canvas_reference(const StageCall<Host>& call, const Canvas& canvas) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { canvas_planes<T>(call, canvas); });
}

// Returns the offset of the image in a canvas with `rest` more pixels along one side. `low` and `high`:
// whether the image touches the canvas's first and last pixel.
std::int64_t pad_offset(std::int64_t rest, bool low, bool high) {
  return low ? 0 : high ? rest : half_rounded_to_even(rest);
}

}  // namespace

std::string_view crop_skip_reason(const FrameType& in, const Parameters& parameters) {
  const CropParameters wanted(parameters);
  const bool all = wanted.width == in.width && wanted.height == in.height && wanted.x <= 0 && wanted.y <= 0;
  return all ? "the rectangle is the whole image" : "";
}

std::string_view crop_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  const CropParameters wanted(parameters);
  const Canvas canvas = crop_canvas(in, parameters);
  out.width = wanted.width;
  out.height = wanted.height;
  const bool inside =
      is_inside(canvas.left, out.width, in.width) && is_inside(canvas.top, out.height, in.height);
  return inside || wanted.pad != kNoPadding ? "" : "outside the image";
}

RowRange crop_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return canvas_rows(crop_canvas(in, parameters), in.height, out);
}

void crop_reference(const StageCall<Host>& call) {
  canvas_reference(call, crop_canvas(call.in.type, call.parameters));
}

Canvas pad_canvas(const FrameType& in, const Parameters& parameters) {
  using enum PadPosition;
  const PadParameters wanted(parameters);
  const PadPosition at = wanted.position;
  const bool is_left = at == left || at == top_left || at == bottom_left;
  const bool is_right = at == right || at == top_right || at == bottom_right;
  const bool is_top = at == top || at == top_left || at == top_right;
  const bool is_bottom = at == bottom || at == bottom_left || at == bottom_right;
  return {-pad_offset(wanted.width - in.width, is_left, is_right),
          -pad_offset(wanted.height - in.height, is_top, is_bottom), wanted.color};
}

std::string_view pad_skip_reason(const FrameType& in, const Parameters& parameters) {
  const PadParameters wanted(parameters);
  return wanted.width == in.width && wanted.height == in.height ? "the image already has this size" : "";
}

std::string_view pad_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  const PadParameters wanted(parameters);
  out.width = wanted.width;
  out.height = wanted.height;
  return out.width < in.width || out.height < in.height ? "smaller than the image" : "";
}

RowRange pad_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  return canvas_rows(pad_canvas(in, parameters), in.height, out);
}

void pad_reference(const StageCall<Host>& call) {
  canvas_reference(call, pad_canvas(call.in.type, call.parameters));
}

}  // namespace imgpipe

#include "kernels/crop/crop.h"
#include "kernels/shared/moved_planes.h"

namespace imgpipe {
namespace {

template <class T>
void crop_plane(const Plane<const T, Host>& in, const Plane<T, Host>& out, std::int64_t left,
                std::int64_t top) {
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x) {
      for (int c = 0; c < out.channels; ++c)
        out.row(y)[x * out.channels + c] = in.row(top + y)[(left + x) * in.channels + c];
    }
  }
}

template <class T>
void crop_planes(const StageCall<Host>& call) {
  const CropParameters wanted(call.parameters);
  const FrameType& in = call.in.type;
  for (int i = 0; i < moved_planes(in); ++i) {
    const std::size_t plane = plane_of_channel(in, i);
    crop_plane<T>(call.in.plane<T>(plane), call.out.plane<T>(plane),
                  crop_offset(wanted.x, wanted.width, in.width),
                  crop_offset(wanted.y, wanted.height, in.height));
  }
}

// Returns true if a range of `size` pixels at `offset` lies within a side of `of` pixels.
bool fits(std::int64_t offset, std::int64_t size, std::int64_t of) {
  return size <= of && crop_offset(offset, size, of) <= of - size;
}

}  // namespace

std::string_view crop_skip_reason(const FrameType& in, const Parameters& parameters) {
  const CropParameters wanted(parameters);
  const bool all = wanted.width == in.width && wanted.height == in.height && wanted.x <= 0 && wanted.y <= 0;
  return all ? "the rectangle is the whole image" : "";
}

std::string_view crop_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  const CropParameters wanted(parameters);
  out.width = wanted.width;
  out.height = wanted.height;
  const bool inside = fits(wanted.x, wanted.width, in.width) && fits(wanted.y, wanted.height, in.height);
  return inside ? "" : "outside the image";
}

RowRange crop_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  const CropParameters wanted(parameters);
  const std::int64_t top = crop_offset(wanted.y, wanted.height, in.height);
  return {out.first + top, out.end + top};
}

void crop_reference(const StageCall<Host>& call) {
  visit_any_sample(call.in.type.sample, [&]<class T>(T) { crop_planes<T>(call); });
}

}  // namespace imgpipe

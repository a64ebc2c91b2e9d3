// A second image of a step, such as the dark frame of subtract:dark.tif. For kernels it is a constant table:
// its planes, first those of colour, then alpha.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "images/rounded_up.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct SecondImage {
  std::string name;                 // as in the step
  FrameType type{};                 // planar; no pixels until the image is loaded
  std::vector<std::byte> planes{};  // of type.channels() * plane_bytes()
  std::int64_t mean = 0;            // of all colour samples, rounded half up; 0 for floats

  [[nodiscard]] bool is_loaded() const { return type.pixels() > 0; }
  // Vectors may read to the end of a row's last 64 bytes.
  [[nodiscard]] std::int64_t stride_bytes() const {
    return rounded_up(type.width * bytes_per_sample(type.sample), 64);
  }
  [[nodiscard]] std::int64_t plane_bytes() const { return stride_bytes() * type.height; }
};

// Returns plane c of the step's second image: colours, then alpha.
template <class T, class Where>
[[nodiscard]] Plane<const T, Where> second_plane(const StageCall<Where>& call, int c) {
  const SecondImage& image = *call.parameters.image;
  const auto* const data = reinterpret_cast<const T*>(call.table.data + c * image.plane_bytes());
  return {data, image.type.width, image.type.height, image.stride_bytes() / std::int64_t{sizeof(T)}, 1};
}
// Returns the plane for colour plane c of the image: the same, or the only one.
template <class T, class Where>
[[nodiscard]] Plane<const T, Where> second_color_plane(const StageCall<Where>& call, int c) {
  return second_plane<T>(call, call.parameters.image->type.color_channels == 1 ? 0 : c);
}

// The table of a step with a second image: a copy of its planes. Plans read the planes themselves.
[[nodiscard]] std::int64_t second_image_bytes(const FrameType& in, const Parameters& parameters);
void copy_second_image(const StageCall<Host>& call, const Band& band);

}  // namespace imgpipe

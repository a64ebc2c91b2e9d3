#include "kernels/over/over.h"
#include "kernels/shared/map_samples.cuh"

namespace imgpipe {
namespace {

// Planes without data are white. Row 0 of the image's planes is row `top` of the image.
template <class T>
struct OverImages {
  SamplePlanes<const T> in, second;
  Plane<const T, Device> below, alpha;  // the alpha of both images
  Overlay at;
  std::int64_t top, opacity;
};

// Composes plane blockIdx.z; the plane after the colours is alpha. A lane handles 16 adjacent samples at a
// time. Padding is read, never written.
template <class T>
__global__ __launch_bounds__(kMapThreads, fitting_blocks(kMapThreads, kMapBlocks)) void over_kernel(
    const __grid_constant__ OverImages<T> images, SamplePlanes<T> out) {
  const Plane<const T, Device> from = block_plane(images.in), second = block_plane(images.second);
  const Plane<T, Device> to = block_plane(out);
  const Overlay& at = images.at;
  const bool is_translucent = images.below.data != nullptr && second.data != nullptr;
  for (RowSegments<1, kMapLanePixels> here(from.width, from.height); here.inside(); here.next()) {
    const std::int64_t left = from.width - here.x(), y = here.y() + images.top;
    if (left <= 0) continue;
    std::uint32_t pairs[8];
    load_samples(from.row(here.y()) + here.x(), pairs);
    const bool meets =
        y >= at.first_y && y < at.end_y && here.x() < at.end_x && here.x() + kMapLanePixels > at.first_x;
    const auto one = [&](std::int64_t x, T v) -> std::uint32_t {
      if (x < at.first_x || x >= at.end_x) return v;
      const auto sample = [&](const Plane<const T, Device>& plane) -> T {
        return plane.data == nullptr ? T{kLargest<T>} : plane.row(y - at.top)[x - at.left];
      };
      const T alpha = with_opacity<T>(sample(images.alpha), images.opacity);
      if (!is_translucent) return over<T>(sample(second), alpha, v);
      return over_translucent<T>(sample(second), alpha, v, images.below.row(here.y())[x]);
    };
    if (meets) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const std::int64_t x = here.x() + 2 * i;
        pairs[i] =
            pack_low(one(x, static_cast<T>(pairs[i] & 0xFFFF)), one(x + 1, static_cast<T>(pairs[i] >> 16)));
      }
    }
    store_samples(to.row(here.y()) + here.x(), pairs, left);
  }
}

template <class T>
CudaStatus launch_over(const StageCall<Device>& call, const CudaLaunch& launch) {
  const FrameType& type = call.in.type;
  const auto out = sample_planes<T>(call.out);
  OverImages<T> images{};
  images.in = sample_planes<const T>(call.in);
  images.alpha = second_alpha_plane<T>(call);
  images.at = overlay_of(type, call.parameters.image->type, call.parameters);
  images.top = call.out_top;
  images.opacity = OverParameters(call.parameters).opacity;
  for (int c = 0; c < type.channels(); ++c) {
    // The planes may begin at different rows of the image.
    images.in.plane[c] = images.in.plane[c].rows(call.out_top - call.in_top, out.plane[c].height);
    if (c < type.color_channels) images.second.plane[c] = second_color_plane<T>(call, c);
  }
  if (type.alpha) images.below = images.in.plane[type.color_channels];
  over_kernel<T><<<map_grid(launch, out), kMapThreads, 0, launch.stream>>>(images, out);
  return cudaGetLastError();
}

}  // namespace

CudaStatus over_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_over<T>(call, launch); });
}

}  // namespace imgpipe

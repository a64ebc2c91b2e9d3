#include "kernels/flatten/flatten.h"
#include "kernels/shared/map_samples.cuh"

namespace imgpipe {
namespace {

struct FlattenColor {
  std::uint32_t channel[3];
};

// Flattens plane blockIdx.z. A lane handles 16 adjacent samples at a time. Padding is read, never written.
template <class T>
__global__ __launch_bounds__(kMapThreads, fitting_blocks(kMapThreads, kMapBlocks)) void flatten_kernel(
    SamplePlanes<const T> in, Plane<const T, Device> alpha, SamplePlanes<T> out, FlattenColor color) {
  const Plane<const T, Device> from = block_plane(in);
  const Plane<T, Device> to = block_plane(out);
  const auto background = static_cast<T>(blockIdx.z == 0   ? color.channel[0]
                                         : blockIdx.z == 1 ? color.channel[1]
                                                           : color.channel[2]);
  const auto one = [background](std::uint32_t v, std::uint32_t a) -> std::uint32_t {
    return over<T>(static_cast<T>(v), static_cast<T>(a), background);
  };
  for (RowSegments<1, kMapLanePixels> at(from.width, from.height); at.inside(); at.next()) {
    const std::int64_t left = from.width - at.x();
    if (left <= 0) continue;
    std::uint32_t pairs[8], alphas[8];
    load_samples(from.row(at.y()) + at.x(), pairs);
    load_samples(alpha.row(at.y()) + at.x(), alphas);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      pairs[i] = pack_low(one(pairs[i] & 0xFFFF, alphas[i] & 0xFFFF), one(pairs[i] >> 16, alphas[i] >> 16));
    store_samples(to.row(at.y()) + at.x(), pairs, left);
  }
}

template <class T>
CudaStatus launch_flatten(const StageCall<Device>& call, const CudaLaunch& launch) {
  const auto out = sample_planes<T>(call.out);
  FlattenColor color{};
  for (int c = 0; c < out.planes; ++c)
    color.channel[c] = color_sample<T>(call.parameters[0], call.in.type, c);
  flatten_kernel<T><<<map_grid(launch, out), kMapThreads, 0, launch.stream>>>(
      sample_planes<const T>(call.in), call.in.plane<T>(kAlphaPlane), out, color);
  return cudaGetLastError();
}

}  // namespace

CudaStatus flatten_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_flatten<T>(call, launch); });
}

}  // namespace imgpipe

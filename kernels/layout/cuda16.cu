// split and merge of 16-bit samples.
#include "kernels/device_rows.cuh"
#include "kernels/layout/layout.h"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;

// The planes of an image in the order of its interleaved channels: colour, then alpha.
template <class T>
struct ChannelPlanes {
  Plane<T, Device> plane[4];
};

template <class T, class Byte>
ChannelPlanes<T> in_channel_order(const Frame<Byte, Device>& frame) {
  ChannelPlanes<T> planes{};
  for (int c = 0; c < frame.type.channels(); ++c)
    planes.plane[c] = frame.template plane<Sample16>(plane_of_channel(frame.type, c));
  return planes;
}

// A lane moves 8 pixels: Channels loads of 16 bytes, a shuffle in registers, Channels stores of 16 bytes.
template <int Channels>
__global__ __launch_bounds__(kThreads) void split16_kernel(Plane<const Sample16, Device> in,
                                                           ChannelPlanes<Sample16> out) {
  for (RowSegments<1, kWideVectorPixels> at(in.width, in.height); at.inside(); at.next()) {
    const std::int64_t left = in.width - at.x();
    if (left <= 0) continue;
    std::uint32_t words[4 * Channels];
#pragma unroll
    for (int i = 0; i < Channels; ++i) {
      const uint4 vector = load_vector(in.row(at.y()) + at.x() * Channels + kWideVectorPixels * i);
      words[4 * i] = vector.x;
      words[4 * i + 1] = vector.y;
      words[4 * i + 2] = vector.z;
      words[4 * i + 3] = vector.w;
    }
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      std::uint32_t plane[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        plane[i] = pack_low(wide_of(words, 2 * i * Channels + c), wide_of(words, (2 * i + 1) * Channels + c));
      store_vector(out.plane[c].row(at.y()) + at.x(), plane, left);
    }
  }
}

template <int Channels>
__global__ __launch_bounds__(kThreads) void merge16_kernel(ChannelPlanes<const Sample16> in,
                                                           Plane<Sample16, Device> out) {
  for (RowSegments<1, kWideVectorPixels> at(out.width, out.height); at.inside(); at.next()) {
    const std::int64_t left = out.width - at.x();
    if (left <= 0) continue;
    std::uint32_t planes[Channels][4];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      const uint4 vector = load_vector(in.plane[c].row(at.y()) + at.x());
      planes[c][0] = vector.x;
      planes[c][1] = vector.y;
      planes[c][2] = vector.z;
      planes[c][3] = vector.w;
    }
    Sample16* to = out.row(at.y()) + at.x() * Channels;
#pragma unroll
    for (int i = 0; i < Channels; ++i) {
      std::uint32_t words[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int first = kWideVectorPixels * i + 2 * w;  // sample of the lane's 8 * Channels
        words[w] = pack_low(wide_of(planes[first % Channels], first / Channels),
                            wide_of(planes[(first + 1) % Channels], (first + 1) / Channels));
      }
      store_vector(to + kWideVectorPixels * i, words, left * Channels - kWideVectorPixels * i);
    }
  }
}

unsigned grid_of(const StageCall<Device>& call, const CudaLaunch& launch) {
  return stride_blocks<1, kWideVectorPixels>(launch, call.in.type, kThreads, kOneSegmentEach);
}

}  // namespace

CudaStatus split16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const int channels = call.in.type.channels();
  const auto kernel = channels == 2   ? split16_kernel<2>
                      : channels == 3 ? split16_kernel<3>
                                      : split16_kernel<4>;
  kernel<<<grid_of(call, launch), kThreads, 0, launch.stream>>>(call.in.plane<Sample16>(0),
                                                                in_channel_order<Sample16>(call.out));
  return cudaGetLastError();
}

CudaStatus merge16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const int channels = call.in.type.channels();
  const auto kernel = channels == 2   ? merge16_kernel<2>
                      : channels == 3 ? merge16_kernel<3>
                                      : merge16_kernel<4>;
  kernel<<<grid_of(call, launch), kThreads, 0, launch.stream>>>(in_channel_order<const Sample16>(call.in),
                                                                call.out.plane<Sample16>(0));
  return cudaGetLastError();
}

}  // namespace imgpipe

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
  for (int c = 0; c < frame.type.channels(); ++c) {
    planes.plane[c] = frame.template plane<Sample>(plane_of_channel(frame.type, c));
  }
  return planes;
}

// A lane moves 16 pixels: Channels loads of 16 bytes, a byte shuffle in registers, Channels stores of 16
// bytes.
template <int Channels>
__global__ __launch_bounds__(kThreads) void split_kernel(Plane<const Sample, Device> in,
                                                         ChannelPlanes<Sample> out) {
  for (RowSegments<1> at(in.width, in.height); at.inside(); at.next()) {
    const std::int64_t left = in.width - at.x();
    if (left <= 0) continue;
    std::uint32_t words[4 * Channels];
#pragma unroll
    for (int i = 0; i < Channels; ++i) {
      const uint4 vector = load_vector(in.row(at.y()) + at.x() * Channels + 16 * i);
      words[4 * i] = vector.x;
      words[4 * i + 1] = vector.y;
      words[4 * i + 2] = vector.z;
      words[4 * i + 3] = vector.w;
    }
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      std::uint32_t plane[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        plane[i] = pack_bytes<0>(
            byte_of(words, (4 * i) * Channels + c), byte_of(words, (4 * i + 1) * Channels + c),
            byte_of(words, (4 * i + 2) * Channels + c), byte_of(words, (4 * i + 3) * Channels + c));
      }
      store_vector(out.plane[c].row(at.y()) + at.x(), plane, left);
    }
  }
}

template <int Channels>
__global__ __launch_bounds__(kThreads) void merge_kernel(ChannelPlanes<const Sample> in,
                                                         Plane<Sample, Device> out) {
  for (RowSegments<1> at(out.width, out.height); at.inside(); at.next()) {
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
    Sample* to = out.row(at.y()) + at.x() * Channels;
#pragma unroll
    for (int i = 0; i < Channels; ++i) {
      std::uint32_t words[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int first = 16 * i + 4 * w;  // byte of the lane's 16 * Channels
        words[w] = pack_bytes<0>(byte_of(planes[first % Channels], first / Channels),
                                 byte_of(planes[(first + 1) % Channels], (first + 1) / Channels),
                                 byte_of(planes[(first + 2) % Channels], (first + 2) / Channels),
                                 byte_of(planes[(first + 3) % Channels], (first + 3) / Channels));
      }
      store_vector(to + 16 * i, words, left * Channels - 16 * i);
    }
  }
}

}  // namespace

CudaStatus split_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const unsigned grid = stride_blocks<1>(launch, call.in.type, kThreads, kOneSegmentEach);
  const int channels = call.in.type.channels();
  const auto kernel = channels == 2 ? split_kernel<2> : channels == 3 ? split_kernel<3> : split_kernel<4>;
  kernel<<<grid, kThreads, 0, launch.stream>>>(call.in.plane<Sample>(0), in_channel_order<Sample>(call.out));
  return cudaGetLastError();
}

CudaStatus merge_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const unsigned grid = stride_blocks<1>(launch, call.in.type, kThreads, kOneSegmentEach);
  const int channels = call.in.type.channels();
  const auto kernel = channels == 2 ? merge_kernel<2> : channels == 3 ? merge_kernel<3> : merge_kernel<4>;
  kernel<<<grid, kThreads, 0, launch.stream>>>(in_channel_order<const Sample>(call.in),
                                               call.out.plane<Sample>(0));
  return cudaGetLastError();
}

}  // namespace imgpipe

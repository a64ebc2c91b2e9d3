#include "kernels/layout/layout.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;

// The planes of an image in channel order: colour, then alpha.
template <class T>
struct ChannelPlanes {
  Plane<T, Device> plane[4];
};

template <class T, class Byte>
ChannelPlanes<T> in_channel_order(const Frame<Byte, Device>& frame) {
  ChannelPlanes<T> planes{};
  for (int c = 0; c < frame.type.channels(); ++c) {
    planes.plane[c] = frame.template plane<std::remove_const_t<T>>(plane_of_channel(frame.type, c));
  }
  return planes;
}

// Per step, a lane moves 16 pixels (8 with 16-bit samples, 4 with floats): Channels loads of 16 bytes, a
// shuffle in registers, Channels stores of 16 bytes. Warps walk as in RowSegments; no shared memory.
// merge_kernel works the same way.
template <class T, int Channels>
__global__ __launch_bounds__(kThreads) void split_kernel(Plane<const T, Device> in, ChannelPlanes<T> out) {
  constexpr int kWord = kVectorSamples<T> / 4;  // samples
  for (RowSegments<1, kVectorSamples<T>> at(in.width, in.height); at.inside(); at.next()) {
    const std::int64_t left = in.width - at.x();
    if (left <= 0) continue;
    std::uint32_t words[4 * Channels];
    load_vectors<Channels>(in.row(at.y()) + at.x() * Channels, words);
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
      std::uint32_t plane[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        plane[i] =
            word_of_samples<T>([&](int k) { return sample_of<T>(words, (kWord * i + k) * Channels + c); });
      }
      store_vector(out.plane[c].row(at.y()) + at.x(), plane, left);
    }
  }
}

template <class T, int Channels>
__global__ __launch_bounds__(kThreads) void merge_kernel(ChannelPlanes<const T> in, Plane<T, Device> out) {
  constexpr int kVector = kVectorSamples<T>;
  for (RowSegments<1, kVector> at(out.width, out.height); at.inside(); at.next()) {
    const std::int64_t left = out.width - at.x();
    if (left <= 0) continue;
    std::uint32_t planes[Channels][4];
#pragma unroll
    for (int c = 0; c < Channels; ++c) load_vectors<1>(in.plane[c].row(at.y()) + at.x(), planes[c]);
    T* to = out.row(at.y()) + at.x() * Channels;
#pragma unroll
    for (int i = 0; i < Channels; ++i) {
      std::uint32_t words[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const int first = kVector * i + kVector / 4 * w;  // index among the lane's samples
        words[w] = word_of_samples<T>(
            [&](int k) { return sample_of<T>(planes[(first + k) % Channels], (first + k) / Channels); });
      }
      store_vector(to + kVector * i, words, left * Channels - kVector * i);
    }
  }
}

template <class T>
CudaStatus split(const StageCall<Device>& call, const CudaLaunch& launch) {
  const unsigned grid = stride_blocks<1, kVectorSamples<T>>(launch, call.in.type, kThreads, kOneSegmentEach);
  const int channels = call.in.type.channels();
  const auto kernel = channels == 2   ? split_kernel<T, 2>
                      : channels == 3 ? split_kernel<T, 3>
                                      : split_kernel<T, 4>;
  kernel<<<grid, kThreads, 0, launch.stream>>>(call.in.plane<T>(0), in_channel_order<T>(call.out));
  return cudaGetLastError();
}

template <class T>
CudaStatus merge(const StageCall<Device>& call, const CudaLaunch& launch) {
  const unsigned grid = stride_blocks<1, kVectorSamples<T>>(launch, call.in.type, kThreads, kOneSegmentEach);
  const int channels = call.in.type.channels();
  const auto kernel = channels == 2   ? merge_kernel<T, 2>
                      : channels == 3 ? merge_kernel<T, 3>
                                      : merge_kernel<T, 4>;
  kernel<<<grid, kThreads, 0, launch.stream>>>(in_channel_order<const T>(call.in), call.out.plane<T>(0));
  return cudaGetLastError();
}

}  // namespace

CudaStatus split_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_any_sample(call.in.type.sample, [&]<class T>(T) { return split<T>(call, launch); });
}

CudaStatus merge_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_any_sample(call.in.type.sample, [&]<class T>(T) { return merge<T>(call, launch); });
}

}  // namespace imgpipe

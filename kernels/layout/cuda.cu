#include "kernels/layout/layout.h"
#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/image_group.cuh"

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

template <class T>
struct SplitImage {
  Plane<const T, Device> in;
  ChannelPlanes<T> out;
};
template <class T>
struct MergeImage {
  ChannelPlanes<const T> in;
  Plane<T, Device> out;
};

// Per step, a lane moves 16 pixels (8 with 16-bit samples, 4 with floats): Channels loads of 16 bytes, a
// shuffle in registers, Channels stores of 16 bytes. Warps walk as in RowSegments; no shared memory.
// merge_kernel works the same way.
template <class T, int Channels>
__device__ __forceinline__ void split_pixels(const SplitImage<T>& image) {
  const Plane<const T, Device>& in = image.in;
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
      store_vector(image.out.plane[c].row(at.y()) + at.x(), plane, left);
    }
  }
}

template <class T, int Channels>
__device__ __forceinline__ void merge_pixels(const MergeImage<T>& image) {
  const Plane<T, Device>& out = image.out;
  constexpr int kVector = kVectorSamples<T>;
  for (RowSegments<1, kVector> at(out.width, out.height); at.inside(); at.next()) {
    const std::int64_t left = out.width - at.x();
    if (left <= 0) continue;
    std::uint32_t planes[Channels][4];
#pragma unroll
    for (int c = 0; c < Channels; ++c) load_vectors<1>(image.in.plane[c].row(at.y()) + at.x(), planes[c]);
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

template <class T, int Channels, std::size_t Most>
__global__ __launch_bounds__(kThreads) void split_kernel(
    const __grid_constant__ ImageGroup<SplitImage<T>, Most> group) {
  split_pixels<T, Channels>(group.of_block());
}
template <class T, int Channels, std::size_t Most>
__global__ __launch_bounds__(kThreads) void merge_kernel(
    const __grid_constant__ ImageGroup<MergeImage<T>, Most> group) {
  merge_pixels<T, Channels>(group.of_block());
}

template <class T>
SplitImage<T> split_image(const StageCall<Device>& call) {
  return {call.in.plane<T>(0), in_channel_order<T>(call.out)};
}
template <class T>
MergeImage<T> merge_image(const StageCall<Device>& call) {
  return {in_channel_order<const T>(call.in), call.out.plane<T>(0)};
}

template <class T>
dim3 grid_of(DeviceCalls part, const CudaLaunch& launch) {
  return {largest_of(part,
                     [&](const StageCall<Device>& call) {
                       return stride_blocks<1, kVectorSamples<T>>(launch, call.in.type, kThreads,
                                                                  kOneSegmentEach);
                     }),
          1, group_size(part)};
}

template <class T>
CudaStatus split(DeviceCalls calls, const CudaLaunch& launch) {
  const int channels = calls.front()->in.type.channels();
  return launch_in_groups(
      calls, split_image<T>,
      [&]<std::size_t Most>(const ImageGroup<SplitImage<T>, Most>& group, DeviceCalls part) {
        const auto kernel = channels == 2   ? split_kernel<T, 2, Most>
                            : channels == 3 ? split_kernel<T, 3, Most>
                                            : split_kernel<T, 4, Most>;
        kernel<<<grid_of<T>(part, launch), kThreads, 0, launch.stream>>>(group);
        return cudaGetLastError();
      });
}

template <class T>
CudaStatus merge(DeviceCalls calls, const CudaLaunch& launch) {
  const int channels = calls.front()->in.type.channels();
  return launch_in_groups(
      calls, merge_image<T>,
      [&]<std::size_t Most>(const ImageGroup<MergeImage<T>, Most>& group, DeviceCalls part) {
        const auto kernel = channels == 2   ? merge_kernel<T, 2, Most>
                            : channels == 3 ? merge_kernel<T, 3, Most>
                                            : merge_kernel<T, 4, Most>;
        kernel<<<grid_of<T>(part, launch), kThreads, 0, launch.stream>>>(group);
        return cudaGetLastError();
      });
}

}  // namespace

CudaStatus split_cuda(DeviceCalls calls, const CudaLaunch& launch) {
  return visit_any_sample(calls.front()->in.type.sample, [&]<class T>(T) { return split<T>(calls, launch); });
}

CudaStatus merge_cuda(DeviceCalls calls, const CudaLaunch& launch) {
  return visit_any_sample(calls.front()->in.type.sample, [&]<class T>(T) { return merge<T>(calls, launch); });
}

}  // namespace imgpipe

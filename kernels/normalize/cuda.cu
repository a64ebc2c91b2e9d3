// A lane handles four adjacent pixels at a time: one load and one store of four samples per channel.
#include <cstring>
#include <type_traits>

#include "kernels/normalize/normalize.h"
#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/image_group.cuh"

namespace imgpipe {
namespace {

constexpr int kNormalizePixels = 4;  // per lane
constexpr int kNormalizeThreads = 256;
constexpr int kNormalizeBlocks = 5;  // per multiprocessor; with 6, registers spill

// Four samples as one load and one store.
template <class T>
struct alignas(kNormalizePixels * sizeof(T)) NormalizeSamples {
  T sample[kNormalizePixels];
};

template <class From, class To>
struct NormalizeImage {
  Plane<const From, Device> in[kNormalizeChannels];  // interleaved: the first
  Plane<To, Device> out;
  bool in_mixed, out_mixed;
  const To* table;
};

// Stores the first `count` of four samples, if it is less than four.
template <class To>
__device__ __forceinline__ void store_some(const NormalizeSamples<To>& made, To* to, std::int64_t count) {
  if (count >= kNormalizePixels) {
    using Vector = std::conditional_t<sizeof made == sizeof(uint4), uint4, uint2>;
    Vector vector;
    std::memcpy(&vector, &made, sizeof vector);
    __stwb(reinterpret_cast<Vector*>(to), vector);  // for the reason at store_vector()
    return;
  }
#pragma unroll
  for (int k = 0; k < kNormalizePixels; ++k) {
    if (k < count) to[k] = made.sample[k];
  }
}

// Processes rows of pixels of all channels. Shared memory: the tables of 8-bit samples, at most 3 KiB,
// complete after the barrier; those of 16-bit samples are read through the caches. Padding of the input is
// read, padding of the output never written.
template <class From, class To, int Channels, std::size_t Most>
__global__ __launch_bounds__(
    kNormalizeThreads,
    fitting_blocks(kNormalizeThreads,
                   kNormalizeBlocks)) void normalize_kernel(const __grid_constant__
                                                                ImageGroup<NormalizeImage<From, To>, Most>
                                                                    group) {
  const NormalizeImage<From, To>& image = group.of_block();
  const To* const table = image.table;
  constexpr int kValues = kLargest<From> + 1;
  __shared__ To shared_table[kIsWide<From> ? 1 : Channels * kValues];
  if constexpr (!kIsWide<From>) {
    for (int i = static_cast<int>(threadIdx.x); i < Channels * kValues; i += kNormalizeThreads)
      shared_table[i] = table[i];
    __syncthreads();
  }
  const auto element = [&](int c, From v) {
    if constexpr (kIsWide<From>) {
      return __ldg(table + c * kValues + v);
    } else {
      return shared_table[c * kValues + v];
    }
  };
  const std::int64_t width = image.in[0].width;
  const std::int64_t height = image.in[0].height;
  for (RowSegments<1, kNormalizePixels> at(width, height); at.inside(); at.next()) {
    const std::int64_t left = width - at.x();
    if (left <= 0) continue;
    From read[Channels * kNormalizePixels];  // [x * Channels + c] if interleaved, else [c * 4 + x]
#pragma unroll
    for (int i = 0; i < Channels; ++i) {
      const From* const from = image.in_mixed
                                   ? image.in[0].row(at.y()) + at.x() * Channels + i * kNormalizePixels
                                   : image.in[i].row(at.y()) + at.x();
      const auto four = *reinterpret_cast<const NormalizeSamples<From>*>(from);
#pragma unroll
      for (int k = 0; k < kNormalizePixels; ++k) read[i * kNormalizePixels + k] = four.sample[k];
    }
    To made[Channels][kNormalizePixels];
#pragma unroll
    for (int c = 0; c < Channels; ++c) {
#pragma unroll
      for (int k = 0; k < kNormalizePixels; ++k)
        made[c][k] = element(c, image.in_mixed ? read[k * Channels + c] : read[c * kNormalizePixels + k]);
    }
#pragma unroll
    for (int i = 0; i < Channels; ++i) {
      NormalizeSamples<To> four;
#pragma unroll
      for (int k = 0; k < kNormalizePixels; ++k) {
        const int mixed = i * kNormalizePixels + k;  // index among the lane's interleaved samples
        four.sample[k] = image.out_mixed ? made[mixed % Channels][mixed / Channels] : made[i][k];
      }
      if (image.out_mixed) {
        store_some(four, image.out.row(at.y()) + at.x() * Channels + i * kNormalizePixels,
                   left * Channels - i * kNormalizePixels);
      } else {
        store_some(four, image.out.row(i * height + at.y()) + at.x(), left);
      }
    }
  }
}

template <class From, class To>
NormalizeImage<From, To> normalize_image(const StageCall<Device>& call) {
  NormalizeImage<From, To> image{{},
                                 call.out.plane<To>(0),
                                 call.in.type.layout == Layout::interleaved,
                                 call.out.type.color_channels > 1,
                                 call.table.as<To>()};
  for (std::size_t i = 0; i < kNormalizeChannels; ++i) image.in[i] = call.in.plane<From>(i);
  return image;
}

unsigned normalize_blocks(const StageCall<Device>& call, const CudaLaunch& launch) {
  const View<const std::byte, Device>& rows = call.in.planes[0];
  const FrameType type{.width = rows.width, .height = rows.height};
  return stride_blocks<1, kNormalizePixels>(launch, type, kNormalizeThreads, kNormalizeBlocks);
}

template <class From, class To>
CudaStatus launch_normalize(DeviceCalls calls, const CudaLaunch& launch) {
  const bool color = calls.front()->in.type.color_channels == kNormalizeChannels;
  return launch_in_groups(
      calls, normalize_image<From, To>,
      [&]<std::size_t Most>(const ImageGroup<NormalizeImage<From, To>, Most>& group, DeviceCalls part) {
        const auto kernel = color ? normalize_kernel<From, To, kNormalizeChannels, Most>
                                  : normalize_kernel<From, To, 1, Most>;
        const unsigned blocks =
            largest_of(part, [&](const StageCall<Device>& call) { return normalize_blocks(call, launch); });
        kernel<<<dim3(blocks, 1, group_size(part)), kNormalizeThreads, 0, launch.stream>>>(group);
        return cudaGetLastError();
      });
}

}  // namespace

CudaStatus normalize_cuda(DeviceCalls calls, const CudaLaunch& launch) {
  const StageCall<Device>& first = *calls.front();
  return visit_normalize(first, first.out.type.sample, [&]<class From, class To>(From, To) {
    return launch_normalize<From, To>(calls, launch);
  });
}

}  // namespace imgpipe

// Planes whose samples become samples of another type, on a CUDA device.
#pragma once

#include <type_traits>

#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

constexpr int kMapThreads = 256;
constexpr int kMapBlocks = 6;       // a multiprocessor
constexpr int kMapLanePixels = 16;  // a vector of 8-bit samples, two of 16-bit ones

// The planes of a frame in the order of its channels, alpha last, each as rows of samples: of an interleaved
// frame one, with all channels.
template <class T>
struct SamplePlanes {
  Plane<T, Device> plane[4];
  int planes;
};

template <class T, class Byte>
SamplePlanes<T> sample_planes(const Frame<Byte, Device>& frame) {
  SamplePlanes<T> all{};
  const bool mixed = frame.type.layout == Layout::interleaved;
  all.planes = mixed ? 1 : frame.type.channels();
  for (int i = 0; i < all.planes; ++i) {
    const auto plane =
        frame.template plane<std::remove_const_t<T>>(mixed ? 0 : plane_of_channel(frame.type, i));
    all.plane[i] = {plane.data, plane.row_samples(), plane.height, plane.stride, 1};
  }
  return all;
}

// That of blockIdx.z. Chosen, not indexed: see plane_of_block().
template <class T>
__device__ __forceinline__ Plane<T, Device> block_plane(const SamplePlanes<T>& all) {
  return blockIdx.z == 0   ? all.plane[0]
         : blockIdx.z == 1 ? all.plane[1]
         : blockIdx.z == 2 ? all.plane[2]
                           : all.plane[3];
}

// The 16 samples of a lane, two to a word.
__device__ __forceinline__ void load_samples(const Sample8* from, std::uint32_t (&pairs)[8]) {
  const uint4 vector = load_vector(from);
  const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    pairs[2 * i] = __byte_perm(words[i], 0, 0x4140);
    pairs[2 * i + 1] = __byte_perm(words[i], 0, 0x4342);
  }
}
__device__ __forceinline__ void load_samples(const std::uint16_t* from, std::uint32_t (&pairs)[8]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint4 vector = load_vector(from + i * kWideVectorPixels);
    pairs[4 * i] = vector.x;
    pairs[4 * i + 1] = vector.y;
    pairs[4 * i + 2] = vector.z;
    pairs[4 * i + 3] = vector.w;
  }
}

// Or the first `count` of them: padding is never written.
__device__ __forceinline__ void store_samples(Sample8* to, const std::uint32_t (&pairs)[8],
                                              std::int64_t count) {
  std::uint32_t words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = __byte_perm(pairs[2 * i], pairs[2 * i + 1], 0x6420);
  store_vector(to, words, count);
}
__device__ __forceinline__ void store_samples(std::uint16_t* to, const std::uint32_t (&pairs)[8],
                                              std::int64_t count) {
  const std::uint32_t first[4] = {pairs[0], pairs[1], pairs[2], pairs[3]};
  const std::uint32_t second[4] = {pairs[4], pairs[5], pairs[6], pairs[7]};
  store_vector(to, first, count);
  store_vector(to + kWideVectorPixels, second, count - kWideVectorPixels);
}

// Planes of one size, between which a grid of map_grid() walks: a lane makes 16 adjacent samples at a time,
// function(value) each. Padding is read, never written.
template <class From, class To, class Function>
__device__ __forceinline__ void map_samples(const Plane<const From, Device>& from,
                                            const Plane<To, Device>& to, const Function& function) {
  for (RowSegments<1, kMapLanePixels> at(from.width, from.height); at.inside(); at.next()) {
    const std::int64_t left = from.width - at.x();
    if (left <= 0) continue;
    std::uint32_t pairs[8];
    load_samples(from.row(at.y()) + at.x(), pairs);
#pragma unroll
    for (std::uint32_t& pair : pairs) pair = pack_low(function(pair & 0xFFFF), function(pair >> 16));
    store_samples(to.row(at.y()) + at.x(), pairs, left);
  }
}

// blockIdx.z is the plane.
template <class T>
dim3 map_grid(const CudaLaunch& launch, const SamplePlanes<T>& planes) {
  const FrameType rows{.width = planes.plane[0].width, .height = planes.plane[0].height};
  return dim3(stride_blocks<1, kMapLanePixels>(launch, rows, kMapThreads, kMapBlocks), 1,
              static_cast<unsigned>(planes.planes));
}

}  // namespace imgpipe

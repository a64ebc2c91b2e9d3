// Conversion of planes to another sample type on a CUDA device.
#pragma once

#include <type_traits>

#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

constexpr int kMapThreads = 256;
constexpr int kMapBlocks = 6;       // per multiprocessor
constexpr int kMapLanePixels = 16;  // one vector of 8-bit samples, two of 16-bit ones

// The planes of a frame in channel order, alpha last, as rows of samples; an interleaved frame is one plane.
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

// Returns the plane of blockIdx.z; selects by comparison, see plane_of_block().
template <class T>
__device__ __forceinline__ Plane<T, Device> block_plane(const SamplePlanes<T>& all) {
  return blockIdx.z == 0   ? all.plane[0]
         : blockIdx.z == 1 ? all.plane[1]
         : blockIdx.z == 2 ? all.plane[2]
                           : all.plane[3];
}

// Loads the 16 samples of a lane, two per word.
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

// Stores the 16 samples of a lane, or the first `count`; never writes padding.
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

// Converts between planes of equal size with a grid of map_grid(). A lane handles 16 adjacent samples at a
// time and calls function(value) for each. Padding is read, never written.
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

// Returns a grid for the planes; blockIdx.z selects the plane.
template <class T>
dim3 map_grid(const CudaLaunch& launch, const SamplePlanes<T>& planes) {
  const FrameType rows{.width = planes.plane[0].width, .height = planes.plane[0].height};
  return dim3(stride_blocks<1, kMapLanePixels>(launch, rows, kMapThreads, kMapBlocks), 1,
              static_cast<unsigned>(planes.planes));
}

}  // namespace imgpipe

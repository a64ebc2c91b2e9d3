// Maps planes through a function of four samples, for pointwise stages on a CUDA device.
#pragma once

#include <type_traits>

#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

// contrast on an H200, 2026-11-20, 8773x5352 grey, us: 27.5; one vector per lane and 8 blocks: 30.9.
// 2026-11-21, buffers not in the cache: 30.9; a plain copy: 28.9; loads that run ahead, the first before lo
// and hi are known: 29.8 to 35.5, but 6.6 instead of 6.0 at 640x426.
constexpr int kPointwiseThreads = 256;
constexpr int kPointwiseBlocks = 6;  // per multiprocessor
constexpr int kPointwiseVectors = 2;

#define IMGPIPE_POINTWISE_KERNEL    \
  __global__ __launch_bounds__(     \
      ::imgpipe::kPointwiseThreads, \
      ::imgpipe::fitting_blocks(::imgpipe::kPointwiseThreads, ::imgpipe::kPointwiseBlocks)) void

// Maps a plane to another of equal size with a grid of pointwise_grid(). A lane handles 16 adjacent bytes at
// a time; function(word) maps four 8-bit samples or two 16-bit ones. Padding is read, never written.
template <class Function>
__device__ __forceinline__ void map_words(const Plane<const Sample8, Device>& from,
                                          const Plane<Sample8, Device>& to, const Function& function) {
  for (RowSegments<kPointwiseVectors> at(from.width, from.height); at.inside(); at.next()) {
    const std::int64_t left = from.width - at.x();
    const Sample8* source = from.row(at.y()) + at.x();
    Sample8* target = to.row(at.y()) + at.x();
    uint4 vectors[kPointwiseVectors];
#pragma unroll
    for (int i = 0; i < kPointwiseVectors; ++i) {
      if (left > i * kSegmentPixels) vectors[i] = load_vector(source + i * kSegmentPixels);
    }
#pragma unroll
    for (int i = 0; i < kPointwiseVectors; ++i) {
      if (left <= i * kSegmentPixels) break;
      const std::uint32_t words[4] = {function(vectors[i].x), function(vectors[i].y), function(vectors[i].z),
                                      function(vectors[i].w)};
      store_vector(target + i * kSegmentPixels, words, left - i * kSegmentPixels);
    }
  }
}

// Like map_words(), with function = prepare(). For slow preparations: loads run ahead, and the first ones are
// issued before prepare(). Neither plane displaces others from the L2 cache. H200, 2026-11-22, 8773x5352
// grey, in the engine, us: contrast 24.9, with map_words() 27.7, and 1 more for the smooth that reads its
// output. Without preparation: invert 26.3 and threshold 30.4, with map_words() 26.0 and 28.5.
template <class Prepare>
__device__ __forceinline__ void map_words_after(const Plane<const Sample8, Device>& from,
                                                const Plane<Sample8, Device>& to, const Prepare& prepare) {
  RowSegments<kPointwiseVectors> at(from.width, from.height);
  uint4 vectors[kPointwiseVectors];
  const auto load = [&] {
    if (!at.inside()) return;
    const std::int64_t left = from.width - at.x();
    const Sample8* source = from.row(at.y()) + at.x();
#pragma unroll
    for (int i = 0; i < kPointwiseVectors; ++i) {
      if (left > i * kSegmentPixels)
        vectors[i] = __ldcs(reinterpret_cast<const uint4*>(source + i * kSegmentPixels));
    }
  };
  load();
  const auto function = prepare();
  while (at.inside()) {
    const std::int64_t left = from.width - at.x();
    Sample8* target = to.row(at.y()) + at.x();
#pragma unroll
    for (int i = 0; i < kPointwiseVectors; ++i) {
      if (left <= i * kSegmentPixels) break;
      const std::uint32_t words[4] = {function(vectors[i].x), function(vectors[i].y), function(vectors[i].z),
                                      function(vectors[i].w)};
      stream_vector(target + i * kSegmentPixels, words, left - i * kSegmentPixels);
    }
    at.next();
    load();
  }
}

// A grid over the bytes of a frame's planes; blockIdx.z selects the colour plane.
inline dim3 pointwise_grid(const CudaLaunch& launch, FrameType type) {
  type.width *= bytes_per_sample(type.sample);
  return dim3(stride_blocks<kPointwiseVectors>(launch, type, kPointwiseThreads, kPointwiseBlocks), 1,
              static_cast<unsigned>(type.color_channels));
}

// The colour planes of a frame as bytes; missing ones are empty.
template <class Byte>
auto color_planes(const Frame<Byte, Device>& frame) {
  using T = std::conditional_t<std::is_const_v<Byte>, const Sample8, Sample8>;
  return DevicePlanes<T>{{bytes_of(frame.planes[0]), bytes_of(frame.planes[1]), bytes_of(frame.planes[2])}};
}

}  // namespace imgpipe

// Rows of device memory in vectors of 16 bytes, and the traversals of all streaming kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include "kernels/cuda_launch.h"
#include "kernels/frame.h"

namespace imgpipe {

// Threads per multiprocessor of the architecture compiled for (CUDA C++ Programming Guide).
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int kMultiprocessorThreads = 1024;
#elif !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
constexpr int kMultiprocessorThreads = 2048;
#else
constexpr int kMultiprocessorThreads = 1536;
#endif

// For __launch_bounds__: the smaller of the wanted number of blocks and the number that fits on a
// multiprocessor.
constexpr int fitting_blocks(int threads, int wanted) {
  const int most = kMultiprocessorThreads / threads;
  return most < 1 ? 1 : wanted < most ? wanted : most;
}

constexpr int kWarpLanes = 32;
constexpr int kVectorPixels = kDeviceRowPixels;             // a lane's share of a segment
constexpr int kSegmentPixels = kWarpLanes * kVectorPixels;  // a warp's share of a row at a time

// Planes of one channel each; blockIdx.z selects one.
template <class T>
struct DevicePlanes {
  Plane<T, Device> plane[3];
};

// Returns the plane of blockIdx.z. A run-time index would copy the kernel's parameters to local memory.
template <class T>
__device__ __forceinline__ Plane<T, Device> plane_of_block(const DevicePlanes<T>& planes) {
  return blockIdx.z == 0 ? planes.plane[0] : blockIdx.z == 1 ? planes.plane[1] : planes.plane[2];
}

// The colour planes of a frame with samples of type T; missing ones are empty.
template <class T, class Byte>
auto color_planes_of(const Frame<Byte, Device>& frame) {
  using Of = std::conditional_t<std::is_const_v<Byte>, const T, T>;
  return DevicePlanes<Of>{
      {frame.template plane<T>(0), frame.template plane<T>(1), frame.template plane<T>(2)}};
}

// Returns the sum of the values of this lane and all lanes before it.
__device__ __forceinline__ std::uint64_t sum_up_to_lane(std::uint64_t value) {
#pragma unroll
  for (unsigned step = 1; step < kWarpLanes; step *= 2) {
    const std::uint64_t other = __shfl_up_sync(0xFFFFFFFF, value, step);
    if (threadIdx.x % kWarpLanes >= step) value += other;
  }
  return value;
}

// Walks a grid's warps over the segments of an image, row by row. A lane has `Vectors` vectors of a segment,
// 512 pixels apart, so that each load of a warp covers 512 contiguous bytes and `Vectors` loads are in
// flight:
//
//   row 0   | segment 0: lane 0 has pixels 0..15 (and 512..527, ...), lane 1 16..31, ... | segment 1 | ...
//   row 1   | ...
//
// for (RowSegments<2> at(width, height); at.inside(); at.next()) { at.x(), at.y() }
//
// LanePixels: a lane's share, if not the 16 8-bit samples of a vector.
template <int Vectors, int LanePixels = kVectorPixels>
class RowSegments {
 public:
  static constexpr int kPixels = kWarpLanes * LanePixels * Vectors;

  __device__ RowSegments(std::int64_t width, std::int64_t height)
      : segments_(static_cast<std::uint32_t>((width + kPixels - 1) / kPixels)),
        total_(segments_ * static_cast<std::uint64_t>(height)),
        item_(std::uint64_t{blockIdx.x} * (blockDim.x / kWarpLanes) + threadIdx.x / kWarpLanes) {
    locate();
  }
  __device__ bool inside() const { return item_ < total_; }
  __device__ void next() {
    item_ += std::uint64_t{gridDim.x} * (blockDim.x / kWarpLanes);
    locate();
  }
  __device__ std::int64_t x() const { return x_; }
  __device__ std::int64_t y() const { return y_; }

 private:
  __device__ void locate() {
    // 32-bit division suffices for fewer than 2^32 segments.
    if (total_ <= 0xFFFFFFFFU) {
      const auto item = static_cast<std::uint32_t>(item_);
      const std::uint32_t row = item / segments_;
      y_ = row;
      x_ = (item - row * segments_) * std::int64_t{kPixels} + threadIdx.x % kWarpLanes * LanePixels;
    } else {
      y_ = static_cast<std::int64_t>(item_ / segments_);
      x_ = static_cast<std::int64_t>(item_ % segments_) * kPixels + threadIdx.x % kWarpLanes * LanePixels;
    }
  }

  std::uint32_t segments_;
  std::uint64_t total_;
  std::uint64_t item_;
  std::int64_t x_ = 0;
  std::int64_t y_ = 0;
};

// Walks a grid's threads over the vectors of a plane: thread t takes vectors t, t + threads, ... Rows go from
// the last one up, because the rows that the previous stage wrote last are most likely in the L2 cache.
// Adjacent lanes have adjacent vectors, and a row's end costs only its last vector. Holds a pointer, so that
// a step takes a few additions: registers are scarce with 1024 threads per block.
class VectorWalk {
 public:
  __device__ explicit VectorWalk(const Plane<const Sample8, Device>& plane)
      : width_(static_cast<unsigned>(plane.width)),
        vectors_(static_cast<unsigned>((plane.width + kVectorPixels - 1) / kVectorPixels)) {
    const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned step = gridDim.x * blockDim.x;
    y_ = static_cast<int>(plane.height - 1 - first / vectors_);
    vector_ = first % vectors_;
    step_rows_ = static_cast<int>(step / vectors_);
    step_vectors_ = step % vectors_;
    from_ = plane.row(y_) + vector_ * kVectorPixels;
    step_bytes_ = step_vectors_ * kVectorPixels - step_rows_ * plane.stride;
    wrap_bytes_ = -plane.stride - std::int64_t{vectors_} * kVectorPixels;
  }
  __device__ bool inside() const { return y_ >= 0; }
  __device__ const Sample8* from() const { return from_; }
  // Pixels of the row from here on. For planes viewed as bytes, whose rows may have 2^31 or more, use
  // wide_left().
  __device__ int left() const { return static_cast<int>(wide_left()); }
  __device__ unsigned wide_left() const { return width_ - vector_ * kVectorPixels; }
  __device__ void next() {
    y_ -= step_rows_;
    vector_ += step_vectors_;
    from_ += step_bytes_;
    if (vector_ >= vectors_) {
      vector_ -= vectors_;
      --y_;
      from_ += wrap_bytes_;
    }
  }

 private:
  unsigned width_;    // both sides are below 2^31, rows of 16-bit samples in bytes below 2^32
  unsigned vectors_;  // per row
  int y_ = 0, step_rows_ = 0;
  unsigned vector_ = 0, step_vectors_ = 0;
  const Sample8* from_ = nullptr;
  std::int64_t step_bytes_ = 0,
               wrap_bytes_ = 0;  // bytes of a step, and from the end of a row to the row above
};

__device__ inline uint4 load_vector(const Sample8* from) {
  return __ldg(reinterpret_cast<const uint4*>(from));
}

// ---- samples of 16 bits -----------------------------------------------------------------------------
// A vector holds 8 of them; a word holds two, the first in its lower half. Code that moves whole vectors or
// works bitwise treats such a row as one of twice as many bytes.

constexpr int kWideVectorPixels = 8;
static_assert(kDeviceRowPixels % kWideVectorPixels ==
              0);  // rows are readable up to whole vectors of these too

__device__ inline uint4 load_vector(const std::uint16_t* from) {
  return __ldg(reinterpret_cast<const uint4*>(from));
}

// Loads four floats.
__device__ inline uint4 load_vector(const float* from) {
  return __ldg(reinterpret_cast<const uint4*>(from));
}

// Returns sample k of a vector held in words.
template <int Words>
__device__ __forceinline__ std::uint32_t wide_of(const std::uint32_t (&words)[Words], int k) {
  return k % 2 == 0 ? words[k / 2] & 0xFFFF : words[k / 2] >> 16;
}

// Returns byte k of a vector held in words.
template <int Words>
__device__ __forceinline__ std::uint32_t byte_of(const std::uint32_t (&words)[Words], int k) {
  return (words[k / 4] >> (8 * (k % 4))) & 0xFF;
}

template <class T>
inline constexpr int kVectorSamples = static_cast<int>(sizeof(uint4) / sizeof(T));
template <class T, int Words>
__device__ __forceinline__ std::uint32_t sample_of(const std::uint32_t (&words)[Words], int k) {
  if constexpr (kIsFloat<T>) {
    return words[k];
  } else if constexpr (!kIsWide<T>) {
    return byte_of(words, k);
  } else {
    return wide_of(words, k);
  }
}
template <int Vectors, class T>
__device__ __forceinline__ void load_vectors(const T* from, std::uint32_t (&words)[4 * Vectors]) {
#pragma unroll
  for (int i = 0; i < Vectors; ++i) {
    const uint4 vector = load_vector(from + kVectorSamples<T> * i);
    words[4 * i] = vector.x;
    words[4 * i + 1] = vector.y;
    words[4 * i + 2] = vector.z;
    words[4 * i + 3] = vector.w;
  }
}

__device__ __forceinline__ std::uint32_t pack_low(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ __forceinline__ std::uint32_t pack_high(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x7632);
}

// Views a plane of one channel as bytes.
template <class Byte>
auto bytes_of(const View<Byte, Device>& plane) {
  using T = std::conditional_t<std::is_const_v<Byte>, const Sample8, Sample8>;
  return Plane<T, Device>{reinterpret_cast<T*>(plane.data), plane.row_bytes(), plane.height,
                          plane.stride_bytes, 1};
}

// An ordinary store of 16 bytes. nvcc 13.0 splits an assignment into four stores in kernels whose parameters
// are __grid_constant__: merge of 16 bits took 27.5 instead of 17.4 us (H200, 2026-11-26).
__device__ __forceinline__ void store_vector(void* to, const std::uint32_t (&words)[4]) {
  __stwb(static_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
}

// Stores 16 pixels, or the first `count`; padding is never written.
__device__ inline void store_vector(Sample8* to, const std::uint32_t (&words)[4], std::int64_t count) {
  if (count >= kVectorPixels) {
    store_vector(to, words);
    return;
  }
#pragma unroll
  for (int k = 0; k < kVectorPixels; ++k) {
    if (k < count) to[k] = static_cast<Sample8>(byte_of(words, k));
  }
}

__device__ inline void store_vector(std::uint16_t* to, const std::uint32_t (&words)[4], std::int64_t count) {
  if (count >= kWideVectorPixels) {
    store_vector(to, words);
    return;
  }
#pragma unroll
  for (int k = 0; k < kWideVectorPixels; ++k) {
    if (k < count) to[k] = static_cast<std::uint16_t>(wide_of(words, k));
  }
}

// Stores four floats, given as bit patterns; only the first `count` if it is less than 4.
__device__ inline void store_vector(float* to, const std::uint32_t (&words)[4], std::int64_t count) {
  if (count >= 4) {
    store_vector(to, words);
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (k < count) reinterpret_cast<std::uint32_t*>(to)[k] = words[k];
  }
}

// Stores 16 pixels of 8 bits; they are the first to be evicted from the L2 cache.
__device__ inline void stream_vector(Sample8* to, const std::uint32_t (&words)[4], std::int64_t count) {
  if (count >= kVectorPixels)
    __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
  else
    store_vector(to, words, count);
}

template <int Byte>
__device__ __forceinline__ std::uint32_t pack_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                    std::uint32_t d) {
  constexpr std::uint32_t kPair = static_cast<std::uint32_t>(Byte | (4 + Byte) << 4);
  const std::uint32_t low = __byte_perm(a, b, kPair);
  const std::uint32_t high = __byte_perm(c, d, kPair);
  return __byte_perm(low, high, 0x5410);
}

// Packs samples sample(0), sample(1), ... into a word.
template <class T, class SampleAt>
__device__ __forceinline__ std::uint32_t word_of_samples(const SampleAt& sample) {
  if constexpr (kIsFloat<T>) {
    return sample(0);
  } else if constexpr (!kIsWide<T>) {
    return pack_bytes<0>(sample(0), sample(1), sample(2), sample(3));
  } else {
    return pack_low(sample(0), sample(1));
  }
}

// Returns the number of blocks for a grid that strides over the segments: at most as many as have work, and
// at most `resident` per multiprocessor. More would end in a last wave that fills the device only partly.
template <int Vectors, int LanePixels = kVectorPixels>
unsigned stride_blocks(const CudaLaunch& launch, const FrameType& shape, int threads, int resident) {
  constexpr std::int64_t kPixels = RowSegments<Vectors, LanePixels>::kPixels;
  const std::int64_t segments = (shape.width + kPixels - 1) / kPixels * shape.height;
  const std::int64_t warps_per_block = threads / kWarpLanes;
  const std::int64_t useful = (segments + warps_per_block - 1) / warps_per_block;
  const std::int64_t filling = std::int64_t{launch.multiprocessors} * resident;
  return static_cast<unsigned>(useful < filling ? useful : filling);
}

// Returns the maximum dynamic shared memory of a block on the current device, in bytes.
inline cudaError_t shared_bytes_of_a_block(int& bytes) {
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
}

// A value of `resident` that gives each warp one segment unless the image is huge, for kernels without
// preparation before the first load. Grids stay below 2^31 blocks.
constexpr int kOneSegmentEach = 1 << 14;

}  // namespace imgpipe

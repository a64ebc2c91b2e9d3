// Bytewise copying and reversal of rows on a CUDA device, shared by stages that move pixels or planes.
//
// A lane has 16 bytes of an output row (48 for pixels of three samples), so that its stores are aligned. The
// source bytes begin anywhere, but at the same offset from a multiple of 16 in every row and for every lane.
// Loads are therefore aligned too: one more vector than is stored, which is then shifted.
//
//   input    |................|....s...........|....e...........|     aligned vectors
//   output                    |s..............e|
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/moved_planes.h"
#include "kernels/stage_call.h"

namespace imgpipe {

constexpr int kMovedThreads = 256;
constexpr int kMaxMovedPlanes = 4;
constexpr unsigned kMaxMovedBlocksDown = 65535;  // maximum of gridDim.y (CUDA C++ Programming Guide)

// A plane of a call; strides in bytes.
struct CopyPlane {
  const std::uint8_t* in = nullptr;
  std::uint8_t* out = nullptr;
  std::int64_t in_stride = 0, out_stride = 0;
};
struct MovedPlanes {
  CopyPlane plane[kMaxMovedPlanes];
};

inline CopyPlane copy_plane(const View<const std::byte, Device>& in, const View<std::byte, Device>& out) {
  return {reinterpret_cast<const std::uint8_t*>(in.data), reinterpret_cast<std::uint8_t*>(out.data),
          in.stride_bytes, out.stride_bytes};
}

inline MovedPlanes moved_planes_of(const StageCall<Device>& call) {
  MovedPlanes planes{};
  for (int i = 0; i < moved_planes(call.in.type); ++i) {
    const std::size_t plane = plane_of_channel(call.in.type, i);
    planes.plane[i] = copy_plane(call.in.planes[plane], call.out.planes[plane]);
  }
  return planes;
}

// Selects by comparison, see plane_of_block().
__device__ __forceinline__ CopyPlane moved_plane_of_block(const MovedPlanes& planes) {
  return blockIdx.z == 0   ? planes.plane[0]
         : blockIdx.z == 1 ? planes.plane[1]
         : blockIdx.z == 2 ? planes.plane[2]
                           : planes.plane[3];
}

// Row y of the output, `bytes` long, comes from row first + step * y.
struct MovedRows {
  std::int64_t rows = 0, bytes = 0;
  std::int64_t first = 0, step = 1;
};

// Extracts `Count` words from byte `4 * Words + bits / 8` of `in` on.
template <int Words, int Count>
__device__ __forceinline__ void shifted_words(const std::uint32_t (&in)[Count + 4], unsigned bits,
                                              std::uint32_t (&out)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) out[i] = __funnelshift_r(in[i + Words], in[i + Words + 1], bits);
}

__device__ __forceinline__ void load_words(const std::uint8_t* from, std::uint32_t* to) {
  const uint4 vector = load_vector(from);
  to[0] = vector.x;
  to[1] = vector.y;
  to[2] = vector.z;
  to[3] = vector.w;
}

// Returns the word of bytes a to d, which must be constants. Pixels of `Unit` bytes (4, 2 or 1) stay whole.
template <int Unit, int Words>
__device__ __forceinline__ std::uint32_t word_of_bytes(const std::uint32_t (&words)[Words], int a, int b,
                                                       int c, int d) {
  if constexpr (Unit == 4) {
    return words[a / 4];
  } else if constexpr (Unit == 2) {
    const auto low = static_cast<unsigned>(a % 4);
    const auto high = static_cast<unsigned>(4 + c % 4);
    return __byte_perm(words[a / 4], words[c / 4], low | (low + 1) << 4 | high << 8 | (high + 1) << 12);
  } else {
    return pack_bytes<0>(byte_of(words, a), byte_of(words, b), byte_of(words, c), byte_of(words, d));
  }
}
template <int Bytes>
inline constexpr int kMovedUnit = Bytes % 4 == 0   ? 4
                                  : Bytes % 2 == 0 ? 2
                                                   : 1;

// Copies rows, starting at byte `from` of each input row: `offset` is 16 * (from / 16); Words and `bits` are
// the rest. A warp copies 512 bytes of a row, a block kMovedThreads / 32 rows at a time. No shared memory.
template <int Words>
__device__ __forceinline__ void copy_plane_rows(const CopyPlane& plane, const MovedRows& moved,
                                                std::int64_t offset, unsigned bits) {
  const std::int64_t x = (std::int64_t{blockIdx.x} * kWarpLanes + threadIdx.x % kWarpLanes) * 16;
  if (x >= moved.bytes) return;
  const std::int64_t left = moved.bytes - x;
  // Whether the bytes extend into the second vector, which may not exist otherwise.
  const bool second = (left < 16 ? left : 16) + 4 * Words + bits / 8 > 16;
  constexpr unsigned kRows = kMovedThreads / kWarpLanes;
  for (std::int64_t y = std::int64_t{blockIdx.y} * kRows + threadIdx.x / kWarpLanes; y < moved.rows;
       y += std::int64_t{gridDim.y} * kRows) {
    const std::uint8_t* from = plane.in + (moved.first + moved.step * y) * plane.in_stride + offset + x;
    std::uint32_t in[8] = {};
    load_words(from, in);
    if (second) load_words(from + 16, in + 4);
    std::uint32_t out[4];
    shifted_words<Words>(in, bits, out);
    store_vector(plane.out + y * plane.out_stride + x, out, left);
  }
}

template <int Words>
__global__ __launch_bounds__(kMovedThreads) void copy_rows_kernel(MovedPlanes planes, MovedRows moved,
                                                                  std::int64_t offset, unsigned bits) {
  copy_plane_rows<Words>(moved_plane_of_block(planes), moved, offset, bits);
}

// Reverses pixels of Bytes bytes. Lane i of a row writes the output from byte 16 * kVectors * i on, whose
// source ends equally far before the row's end. Bytes before the row are not loaded. A warp reverses 512 *
// kVectors bytes of a row, a block kMovedThreads / 32 rows at a time.
template <int Bytes, int Words>
__global__ __launch_bounds__(kMovedThreads) void reverse_rows_kernel(MovedPlanes planes, MovedRows moved,
                                                                     unsigned bits) {
  constexpr int kVectors = Bytes % 3 == 0 ? 3 : 1;
  constexpr int kChunk = 16 * kVectors;
  const CopyPlane plane = moved_plane_of_block(planes);
  const std::int64_t x = (std::int64_t{blockIdx.x} * kWarpLanes + threadIdx.x % kWarpLanes) * kChunk;
  if (x >= moved.bytes) return;
  const std::int64_t base = moved.bytes / 16 * 16 - x - kChunk;  // of the first vector to load
  constexpr unsigned kRows = kMovedThreads / kWarpLanes;
  for (std::int64_t y = std::int64_t{blockIdx.y} * kRows + threadIdx.x / kWarpLanes; y < moved.rows;
       y += std::int64_t{gridDim.y} * kRows) {
    const std::uint8_t* from = plane.in + (moved.first + moved.step * y) * plane.in_stride;
    std::uint32_t in[4 * kVectors + 4] = {};
#pragma unroll
    for (int i = 0; i <= kVectors; ++i) {
      const std::int64_t at = base + 16 * i;
      if (at >= 0 && at < moved.bytes) load_words(from + at, in + 4 * i);
    }
    std::uint32_t shifted[4 * kVectors];
    shifted_words<Words>(in, bits, shifted);
    std::uint8_t* const to = plane.out + y * plane.out_stride + x;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      std::uint32_t out[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        // Output byte k is byte k % Bytes of a pixel counted from the other end.
        const auto source = [](int k) { return kChunk - Bytes - k / Bytes * Bytes + k % Bytes; };
        const int k = 16 * i + 4 * w;
        out[w] =
            word_of_bytes<kMovedUnit<Bytes>>(shifted, source(k), source(k + 1), source(k + 2), source(k + 3));
      }
      store_vector(to + 16 * i, out, moved.bytes - x - 16 * i);
    }
  }
}

inline dim3 moved_grid(const MovedRows& moved, int lane_bytes, int planes) {
  const std::int64_t warp_bytes = std::int64_t{kWarpLanes} * lane_bytes;
  constexpr std::int64_t kRows = kMovedThreads / kWarpLanes;
  return {
      static_cast<unsigned>((moved.bytes + warp_bytes - 1) / warp_bytes),
      static_cast<unsigned>(std::min<std::int64_t>((moved.rows + kRows - 1) / kRows, kMaxMovedBlocksDown)),
      static_cast<unsigned>(planes)};
}

// Calls action(std::integral_constant<int, n>), n = 0 to 3.
template <class Action>
void with_words(int n, const Action& action) {
  if (n == 0) action(std::integral_constant<int, 0>());
  if (n == 1) action(std::integral_constant<int, 1>());
  if (n == 2) action(std::integral_constant<int, 2>());
  if (n == 3) action(std::integral_constant<int, 3>());
}

// Calls action(std::integral_constant<int, n>), n a result of pixel_bytes().
template <class Action>
void with_pixel_bytes(int n, const Action& action) {
  if (n == 1) action(std::integral_constant<int, 1>());
  if (n == 2) action(std::integral_constant<int, 2>());
  if (n == 3) action(std::integral_constant<int, 3>());
  if (n == 4) action(std::integral_constant<int, 4>());
  if (n == 6) action(std::integral_constant<int, 6>());
  if (n == 8) action(std::integral_constant<int, 8>());
  if (n == 12) action(std::integral_constant<int, 12>());
  if (n == 16) action(std::integral_constant<int, 16>());
}

// Copies the bytes of each row of `count` planes, from byte `from` on.
inline void copy_planes(const MovedPlanes& planes, int count, const MovedRows& moved, std::int64_t from,
                        const CudaLaunch& launch) {
  with_words(static_cast<int>(from % 16 / 4), [&](auto words) {
    copy_rows_kernel<words.value><<<moved_grid(moved, 16, count), kMovedThreads, 0, launch.stream>>>(
        planes, moved, from / 16 * 16, static_cast<unsigned>(from % 4 * 8));
  });
}

inline void copy_rows(const StageCall<Device>& call, const MovedRows& moved, std::int64_t from,
                      const CudaLaunch& launch) {
  copy_planes(moved_planes_of(call), moved_planes(call.in.type), moved, from, launch);
}

inline void reverse_rows(const StageCall<Device>& call, const MovedRows& moved, const CudaLaunch& launch) {
  with_pixel_bytes(pixel_bytes(call.in.planes[0]), [&](auto bytes) {
    const dim3 grid = moved_grid(moved, bytes.value % 3 == 0 ? 48 : 16, moved_planes(call.in.type));
    with_words(static_cast<int>(moved.bytes % 16 / 4), [&](auto words) {
      reverse_rows_kernel<bytes.value, words.value><<<grid, kMovedThreads, 0, launch.stream>>>(
          moved_planes_of(call), moved, static_cast<unsigned>(moved.bytes % 4 * 8));
    });
  });
}

}  // namespace imgpipe

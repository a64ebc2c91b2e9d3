// Gaussian blur on a CUDA device, for gauss and sharpen. Each block of threads computes a tile: sums down its
// columns and `radius` more on either side, in shared memory, then sums along its rows.
#pragma once

#include <cstdint>

#include "kernels/shared/gauss_weights.h"
#include "kernels/shared/shared_tile.cuh"

namespace imgpipe {

constexpr int kGaussThreads = 256;
constexpr int kGaussColumns = 128;  // per tile
constexpr int kGaussRows = 32;
constexpr int kRowsEach = 8;  // rows per thread and pass, reusing samples or weights
constexpr int kRowGroups = kGaussRows / kRowsEach;
static_assert(kGaussThreads == kGaussColumns / 2 * kRowGroups);
// Weights of all taps in shared memory, followed by zeros.
constexpr int kMaxSharedWeights = kMaxGaussTaps + 2 * kRowsEach;

struct GaussWork {
  const std::uint32_t* table;  // gauss_weights()
  int radius;
  Border border;
  std::int64_t tiles;
};

// Samples per row of sums: a whole number of words.
IMGPIPE_HOST_DEVICE constexpr int sums_pitch(int radius) {
  return kGaussColumns + 2 * radius;
}
constexpr std::size_t gauss_shared_bytes(int radius) {
  return kMaxSharedWeights * sizeof(std::uint32_t) +
         static_cast<std::size_t>(kGaussRows * sums_pitch(radius)) * sizeof(std::uint16_t);
}

__device__ __forceinline__ std::int64_t gauss_source(std::int64_t i, std::int64_t size, Border border) {
  if (i >= 0 && i < size) return i;
  return border == Border::reflect ? reflected(i, size) : replicated(i, size);
}

// Loads the weights. All threads of a block must call this, and a barrier must follow.
__device__ inline void load_weights(const GaussWork& work, std::uint32_t* weights) {
  for (int i = static_cast<int>(threadIdx.x); i < kMaxSharedWeights; i += kGaussThreads) {
    const int distance = abs(i - work.radius);
    weights[i] = distance <= work.radius ? __ldg(work.table + distance) : 0U;
  }
}

// Computes kRowsEach sums of a column whose sample i is at(i), beginning `radius` rows above the first sum.
// The weights slide along the samples; those after the last tap have weight 0.
template <class T, class At>
__device__ __forceinline__ void sum_column(const At& at, const std::uint32_t* weights, int radius,
                                           std::uint16_t* to, int pitch) {
  std::uint32_t sums[kRowsEach] = {};
  std::uint32_t window[kRowsEach] = {};
  for (int first = 0; first < 2 * radius + kRowsEach; first += kRowsEach) {
#pragma unroll
    for (int i = 0; i < kRowsEach; ++i) {
#pragma unroll
      for (int j = kRowsEach - 1; j > 0; --j) window[j] = window[j - 1];
      window[0] = weights[first + i];
      const std::uint32_t sample = at(first + i);
#pragma unroll
      for (int j = 0; j < kRowsEach; ++j) sums[j] += window[j] * sample;
    }
  }
#pragma unroll
  for (int j = 0; j < kRowsEach; ++j) to[j * pitch] = static_cast<std::uint16_t>(column_rounded<T>(sums[j]));
}

// Computes the sums down the columns of the tile at (x, y) and its surroundings.
template <class T>
__device__ __forceinline__ void sum_columns(const Plane<const T, Device>& from, std::int64_t x,
                                            std::int64_t y, const GaussWork& work,
                                            const std::uint32_t* weights, std::uint16_t* sums) {
  const int pitch = sums_pitch(work.radius);
  for (int item = static_cast<int>(threadIdx.x); item < pitch * kRowGroups; item += kGaussThreads) {
    const int group = item / pitch;
    const int column = item - group * pitch;
    const std::int64_t first = y + group * kRowsEach - work.radius;
    const T* top = from.data + gauss_source(x - work.radius + column, from.width, work.border);
    std::uint16_t* to = sums + group * kRowsEach * pitch + column;
    if (first >= 0 && first + 2 * (work.radius + kRowsEach) <= from.height) {
      const T* start = top + first * from.stride;
      sum_column<T>([&](int i) { return std::uint32_t{__ldg(start + i * from.stride)}; }, weights,
                    work.radius, to, pitch);
    } else {
      const auto at = [&](int i) {
        return std::uint32_t{__ldg(top + gauss_source(first + i, from.height, work.border) * from.stride)};
      };
      sum_column<T>(at, weights, work.radius, to, pitch);
    }
  }
}

// Sums along kRowsEach rows for a thread's two columns; each word holds two column sums, which both need.
__device__ __forceinline__ void sum_pairs(const std::uint16_t* sums, int pitch, int radius,
                                          const std::uint32_t* weights, std::uint32_t (&left)[kRowsEach],
                                          std::uint32_t (&right)[kRowsEach]) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(sums);
  std::uint32_t before = 0;
  for (int i = 0; i <= radius; ++i) {
    const std::uint32_t here = weights[2 * i];
    const std::uint32_t after = weights[2 * i + 1];
#pragma unroll
    for (int j = 0; j < kRowsEach; ++j) {
      const std::uint32_t both = words[j * (pitch / 2) + i];
      const std::uint32_t low = both & 0xFFFF;
      const std::uint32_t high = both >> 16;
      left[j] += here * low + after * high;
      right[j] += before * low + here * high;
    }
    before = after;
  }
}

__device__ __forceinline__ void store_two(Sample8* to, std::uint32_t a, std::uint32_t b) {
  *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(a | b << 8);
}
__device__ __forceinline__ void store_two(Sample16* to, std::uint32_t a, std::uint32_t b) {
  *reinterpret_cast<std::uint32_t*>(to) = a | b << 16;
}

// Blurs plane blockIdx.z. Blocks stride over tiles; a thread sums kRowsEach rows of a column at a time, then
// two columns of kRowsEach rows. finish(from, blurred) makes an output sample; `from` points to the input's.
// Shared memory: gauss_shared_bytes(), 9 to 25 KB. Barriers: before overwriting sums; after the columns.
template <class T, class Finish>
__global__ __launch_bounds__(kGaussThreads) void gauss_kernel(DevicePlanes<const T> in, DevicePlanes<T> out,
                                                              GaussWork work, Finish finish) {
  extern __shared__ __align__(16) std::uint32_t gauss_shared[];
  std::uint32_t* const weights = gauss_shared;
  auto* const sums = reinterpret_cast<std::uint16_t*>(gauss_shared + kMaxSharedWeights);
  const Plane<const T, Device> from = plane_of_block(in);
  const Plane<T, Device> to = plane_of_block(out);
  const std::int64_t across = (to.width + kGaussColumns - 1) / kGaussColumns;
  const int pitch = sums_pitch(work.radius);
  const int column = static_cast<int>(threadIdx.x) % (kGaussColumns / 2) * 2;
  const int row = static_cast<int>(threadIdx.x) / (kGaussColumns / 2) * kRowsEach;
  load_weights(work, weights);
  for (std::int64_t tile = blockIdx.x; tile < work.tiles; tile += gridDim.x) {
    const std::int64_t top = tile / across * kGaussRows;
    const std::int64_t start = tile % across * kGaussColumns;
    __syncthreads();
    sum_columns<T>(from, start, top, work, weights, sums);
    __syncthreads();
    const std::int64_t x = start + column;
    if (x >= to.width || top + row >= to.height) continue;
    std::uint32_t left[kRowsEach] = {};
    std::uint32_t right[kRowsEach] = {};
    sum_pairs(sums + row * pitch + column, pitch, work.radius, weights, left, right);
#pragma unroll
    for (int j = 0; j < kRowsEach; ++j) {
      const std::int64_t y = top + row + j;
      if (y >= to.height) break;
      const T* old = from.row(y) + x;
      T* target = to.row(y) + x;
      const std::uint32_t a = finish(old, row_rounded<T>(left[j]));
      if (x + 1 < to.width) {
        store_two(target, a, finish(old + 1, row_rounded<T>(right[j])));
      } else {
        *target = static_cast<T>(a);
      }
    }
  }
}

// call.table must hold gauss_weights() of the radius.
template <class T, class Finish>
CudaStatus launch_gauss(const StageCall<Device>& call, int radius, Border border, const Finish& finish,
                        const CudaLaunch& launch) {
  constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 30;
  const FrameType& type = call.in.type;
  const std::int64_t tiles =
      (type.width + kGaussColumns - 1) / kGaussColumns * ((type.height + kGaussRows - 1) / kGaussRows);
  const GaussWork work{call.table.as<std::uint32_t>(), radius, border, tiles};
  const dim3 grid(static_cast<unsigned>(tiles < kMaxBlocks ? tiles : kMaxBlocks), 1,
                  static_cast<unsigned>(type.color_channels));
  gauss_kernel<T, Finish><<<grid, kGaussThreads, gauss_shared_bytes(radius), launch.stream>>>(
      color_planes_of<T>(call.in), color_planes_of<T>(call.out), work, finish);
  return cudaGetLastError();
}

}  // namespace imgpipe

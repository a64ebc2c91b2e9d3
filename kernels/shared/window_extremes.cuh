// Extremes of windows (window_extremes.h) on a CUDA device. A block processes a strip of columns from top to
// bottom, one row per warp at a time. Each warp first processes its row; then each thread processes the
// columns of a word (four 8-bit samples or two 16-bit ones), with its own part of the ring.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/shared/device_rows.cuh"
#include "kernels/shared/window.h"
#include "kernels/shared/window_extremes.h"
#include "kernels/stage_call.h"

namespace imgpipe {

enum class Extreme { least, greatest };

constexpr int kExtremesThreads = 256;  // threads per block; fewer if their ring exceeds kExtremesShared
constexpr int kExtremesShared = 48 * 1024;
constexpr int kExtremesBlocks = 8;  // per multiprocessor, if there is enough work

template <class T>
constexpr int kWordSamples = 4 / static_cast<int>(sizeof(T));

template <Extreme Of, class T>
__device__ __forceinline__ std::uint32_t extreme_of(std::uint32_t a, std::uint32_t b) {
  if constexpr (kIsWide<T>) return Of == Extreme::least ? __vminu2(a, b) : __vmaxu2(a, b);
  return Of == Extreme::least ? __vminu4(a, b) : __vmaxu4(a, b);
}

// Returns the word of a row's samples from x on. x must be a multiple of the samples per word.
template <class T>
__device__ __forceinline__ std::uint32_t load_word(const T* row, std::int64_t x, std::int64_t width) {
  if (x >= 0 && x + kWordSamples<T> <= width) return __ldg(reinterpret_cast<const std::uint32_t*>(row + x));
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < kWordSamples<T>; ++i)
    word |= std::uint32_t{__ldg(row + replicated(x + i, width))} << (i * 8 * sizeof(T));
  return word;
}

// Never writes padding.
template <class T>
__device__ __forceinline__ void store_word(T* row, std::int64_t x, std::int64_t width, std::uint32_t word) {
  if (x + kWordSamples<T> <= width) {
    *reinterpret_cast<std::uint32_t*>(row + x) = word;
    return;
  }
#pragma unroll
  for (int i = 0; i < kWordSamples<T>; ++i) {
    if (x + i < width) row[x + i] = static_cast<T>(word >> (i * 8 * sizeof(T)));
  }
}

// Shared memory of a block, in words.
struct ExtremesBlock {
  int side, halo, threads;

  // halo: words that hold `radius` samples.
  constexpr ExtremesBlock(int radius, int word_samples)
      : side(2 * radius + 1), halo((radius + word_samples - 1) / word_samples), threads(kExtremesThreads) {
    while (bytes() > kExtremesShared) threads /= 2;
  }
  IMGPIPE_HOST_DEVICE constexpr int warps() const { return threads / kWarpLanes; }
  // One more than the windows need, so that two adjacent words can always be read.
  IMGPIPE_HOST_DEVICE constexpr int line() const { return threads + 2 * halo + 1; }
  IMGPIPE_HOST_DEVICE constexpr int bytes() const { return 4 * (side * threads + warps() * line()); }
};
static_assert(ExtremesBlock(kMaxExtremeRadius, 2).threads == 32);
static_assert(ExtremesBlock(15, 2).threads == kExtremesThreads);

// For a warp's row: replaces sample i of the line by the extreme of the `side` samples from i + first on. In
// each pass, all lanes read a word and the following one before any lane writes.
template <Extreme Of, class T>
__device__ __forceinline__ void extremes_along(std::uint32_t* line, int words, int first, int side,
                                               int lane) {
  const auto word_at = [&](int word, int ahead) {
    const int i = min(word + ahead / kWordSamples<T>, words - 2);
    return __funnelshift_r(line[i], line[i + 1], ahead % kWordSamples<T> * 8 * static_cast<int>(sizeof(T)));
  };
  const auto pass = [&](int from, int ahead) {
    for (int word = lane; word - lane < words; word += kWarpLanes) {
      const std::uint32_t made = extreme_of<Of, T>(word_at(word, from), word_at(word, from + ahead));
      __syncwarp();
      if (word < words) line[word] = made;
      __syncwarp();
    }
  };
  int reach = 1;
  for (; 2 * reach <= side; reach *= 2) pass(0, reach);
  pass(first, side - reach);
}

// Processes the rows from blockIdx.y * block_rows on of strip blockIdx.x of plane blockIdx.z. Barriers: the
// lines are complete before they are read, and read before they are overwritten.
template <Extreme Of, class T>
__global__ __launch_bounds__(kExtremesThreads) void extremes_kernel(DevicePlanes<const T> in,
                                                                    DevicePlanes<T> out, ExtremesBlock block,
                                                                    std::int64_t block_rows) {
  extern __shared__ std::uint32_t extremes_shared[];
  const Plane<const T, Device> from = plane_of_block(in);
  const Plane<T, Device> to = plane_of_block(out);
  const int radius = block.side / 2;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpLanes;
  const int warp = thread / kWarpLanes;
  std::uint32_t* ring = extremes_shared + thread;  // a slot every block.threads words
  std::uint32_t* lines = extremes_shared + block.side * block.threads;
  std::uint32_t* line = lines + warp * block.line();
  const std::int64_t strip = std::int64_t{blockIdx.x} * block.threads * kWordSamples<T>;
  const std::int64_t x = strip + thread * kWordSamples<T>;
  const std::int64_t top = std::int64_t{blockIdx.y} * block_rows;
  const std::int64_t end = min(top + block_rows, to.height) + radius;
  int slot = 0;
  std::uint32_t so_far = 0;
  for (std::int64_t y = top - radius; y < end; y += block.warps()) {
    const T* row = from.row(replicated(y + warp, from.height));
    for (int i = lane; i < block.line(); i += kWarpLanes)
      line[i] = load_word(row, strip + std::int64_t{i - block.halo} * kWordSamples<T>, from.width);
    __syncwarp();
    extremes_along<Of, T>(line, block.line(), block.halo * kWordSamples<T> - radius, block.side, lane);
    __syncthreads();
    for (int i = 0; i < block.warps() && y + i < end; ++i) {
      const std::uint32_t latest = lines[i * block.line() + thread];
      so_far = slot == 0 ? latest : extreme_of<Of, T>(so_far, latest);
      ring[slot * block.threads] = latest;
      const bool complete = slot + 1 == block.side;
      if (y + i >= top + radius && x < to.width) {
        const std::uint32_t rest = ring[(complete ? slot : slot + 1) * block.threads];
        store_word(to.row(y + i - radius), x, to.width, extreme_of<Of, T>(so_far, rest));
      }
      for (int k = slot - 1; complete && k >= 0; --k)
        ring[k * block.threads] = extreme_of<Of, T>(ring[k * block.threads], ring[(k + 1) * block.threads]);
      slot = complete ? 0 : slot + 1;
    }
    __syncthreads();
  }
}

// Returns the rows per block: few enough to fill the device with blocks, but enough that the window's first
// rows are not most of the work.
inline std::int64_t extremes_rows(const FrameType& type, int side, std::int64_t strips,
                                  const CudaLaunch& launch) {
  const std::int64_t wanted = std::int64_t{launch.multiprocessors} * kExtremesBlocks;
  const std::int64_t segments = std::max<std::int64_t>(1, wanted / (strips * type.color_channels));
  return std::max<std::int64_t>({(type.height + segments - 1) / segments, 2 * side, 32});
}

template <Extreme Of, class T>
CudaStatus launch_extremes_of(const StageCall<Device>& call, int radius, const CudaLaunch& launch) {
  const FrameType& type = call.in.type;
  const ExtremesBlock block(radius, kWordSamples<T>);
  const std::int64_t columns = std::int64_t{block.threads} * kWordSamples<T>;
  const std::int64_t strips = (type.width + columns - 1) / columns;
  const std::int64_t rows = extremes_rows(type, block.side, strips, launch);
  const dim3 grid(static_cast<unsigned>(strips), static_cast<unsigned>((type.height + rows - 1) / rows),
                  static_cast<unsigned>(type.color_channels));
  extremes_kernel<Of, T>
      <<<grid, static_cast<unsigned>(block.threads), static_cast<std::size_t>(block.bytes()),
         launch.stream>>>(color_planes_of<T>(call.in), color_planes_of<T>(call.out), block, rows);
  return cudaGetLastError();
}

template <Extreme Of>
CudaStatus launch_extremes(const StageCall<Device>& call, int radius, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample,
                      [&]<class T>(T) { return launch_extremes_of<Of, T>(call, radius, launch); });
}

}  // namespace imgpipe

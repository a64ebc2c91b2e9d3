// Windows above 5x5: bisection, at the end of this file. 3x3 and 5x5: exchanges (network.h) in registers,
// from windows in shared memory. Each register holds one sample from each of two rows' windows, one per half.
// An exchange of two pixels then takes two instructions on devices with minima and maxima of halves (compute
// capability 9.0 and later), and a few more on others. A thread sorts the 6 or 8 columns of its four pixels'
// windows, then finds four pairs of medians.
#include <algorithm>
#include <utility>

#include "kernels/median/median.h"
#include "kernels/median/network.h"
#include "kernels/shared/shared_tile.cuh"

namespace imgpipe {
namespace {

template <const auto& Exchanges, std::size_t... I>
__device__ __forceinline__ void exchange_all(std::uint32_t* v, std::index_sequence<I...>) {
  const auto exchange = [](std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t lesser = __vminu2(low, high);
    high = __vmaxu2(low, high);
    low = lesser;
  };
  (exchange(v[Exchanges[I].low], v[Exchanges[I].high]), ...);
}
template <const auto& Exchanges>
__device__ __forceinline__ void exchange_all(std::uint32_t* v) {
  exchange_all<Exchanges>(v, std::make_index_sequence<Exchanges.size()>());
}

// Returns sample `i` of two rows in the halves of a word; 8-bit samples are doubled, which keeps their order.
template <class T, int Words>
__device__ __forceinline__ std::uint32_t pair_of(const std::uint32_t (&upper)[Words],
                                                 const std::uint32_t (&lower)[Words], int i) {
  if constexpr (!kIsWide<T>) {
    const auto byte = static_cast<unsigned>(i % 4);
    return __byte_perm(upper[i / 4], lower[i / 4], byte * 0x0011U | (4 + byte) * 0x1100U);
  } else {
    return __byte_perm(upper[i / 2], lower[i / 2], i % 2 == 0 ? 0x5410U : 0x7632U);
  }
}

// Returns the four samples of one row, given pairs of samples of two rows; `lower` selects the lower row.
template <class T>
__device__ __forceinline__ FourSamples<T> row_of(const std::uint32_t (&pairs)[kGroup], bool lower) {
  FourSamples<T> four;
  if constexpr (!kIsWide<T>) {
    four.word[0] = lower ? pack_bytes<2>(pairs[0], pairs[1], pairs[2], pairs[3])
                         : pack_bytes<0>(pairs[0], pairs[1], pairs[2], pairs[3]);
  } else {
    const unsigned halves = lower ? 0x7632U : 0x5410U;
    four.word[0] = __byte_perm(pairs[0], pairs[1], halves);
    four.word[1] = __byte_perm(pairs[2], pairs[3], halves);
  }
  return four;
}

// Computes the medians of a thread's four columns in rows `row` and row + 1 of the tile.
template <class T, int Radius>
__device__ __forceinline__ void medians(const SharedTile<T, Radius>& tile, int lane, int row,
                                        std::uint32_t (&result)[kGroup]) {
  constexpr int kTaps = 2 * Radius + 1;
  constexpr int kColumns = kGroup + 2 * Radius;
  constexpr int kWords = 3 * FourSamples<T>::kWords;
  std::uint32_t words[kTaps + 1][kWords];
#pragma unroll
  for (int j = 0; j <= kTaps; ++j) tile.read(row + j, lane, words[j]);
  std::uint32_t columns[kColumns][kTaps];
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
#pragma unroll
    for (int j = 0; j < kTaps; ++j) columns[k][j] = pair_of<T>(words[j], words[j + 1], kGroup - Radius + k);
    exchange_all<MedianNetwork<Radius>::kColumn>(columns[k]);
  }
#pragma unroll
  for (int x = 0; x < kGroup; ++x) {
    std::uint32_t v[kTaps * kTaps];
#pragma unroll
    for (int k = 0; k < kTaps; ++k) {
#pragma unroll
      for (int j = 0; j < kTaps; ++j) v[j * kTaps + k] = columns[x + k][j];
    }
    exchange_all<MedianNetwork<Radius>::kMiddle>(v);
    result[x] = v[MedianNetwork<Radius>::kResult];
  }
}

// Threads, tiles and barriers: see each_tile(). Shared memory: the tile with its halo, 2.7 KiB for 8-bit
// samples, 5.4 KiB for 16-bit ones.
template <class T, int Radius>
__global__ __launch_bounds__(kTileThreads) void median_kernel(DevicePlanes<const T> in, DevicePlanes<T> out,
                                                              FrameType shape, std::int64_t tiles) {
  __shared__ SharedTile<T, Radius> tile;
  each_tile<Border::replicate>(tile, in, out, shape, tiles, [&](int lane, int row, FourSamples<T>(&rows)[2]) {
    std::uint32_t pairs[kGroup];
    medians<T, Radius>(tile, lane, row, pairs);
    rows[0] = row_of<T>(pairs, false);
    rows[1] = row_of<T>(pairs, true);
  });
}

// Bisection: a thread finds the medians of kDown pixels below each other. It halves the ranges of values in
// which they lie by counting the windows' samples up to the middles, at most 8 or 16 times. A sample that it
// reads counts for all windows that contain it.
constexpr int kAcross = 32;
constexpr int kDown = 4;
constexpr int kBisectionThreads = 256;
constexpr int kBisectionRows = kBisectionThreads / kAcross * kDown;
constexpr int kLineSamples = kAcross + 2 * kMaxMedianRadius;
constexpr std::int64_t kMaxBisectionBlocks = std::int64_t{1} << 30;
constexpr int kLines = kBisectionRows + 2 * kMaxMedianRadius;

// Calls row(j) for each of the rows that the windows of `kDown` pixels reach, and sample(value) for its
// samples.
template <class T, class Row, class SampleOf>
__device__ __forceinline__ void each_sample(const T* lines, int side, const Row& row,
                                            const SampleOf& sample) {
  for (int j = 0; j < side + kDown - 1; ++j) {
    row(j);
#pragma unroll 4
    for (int i = 0; i < side; ++i) sample(static_cast<int>(lines[j * kLineSamples + i]));
  }
}

// `lines` begins at the thread's first window.
template <class T>
__device__ __forceinline__ void bisect(const T* lines, int side, int (&result)[kDown]) {
  int least = kLargest<T>;
  int most = 0;
  each_sample(
      lines, side, [](int) {},
      [&](int v) {
        least = min(least, v);
        most = max(most, v);
      });
  int low[kDown], high[kDown];
#pragma unroll
  for (int k = 0; k < kDown; ++k) {
    low[k] = least;
    high[k] = most;
  }
  const int majority = side * side / 2 + 1;
  for (int passes = 32 - __clz(most - least); passes > 0; --passes) {
    int middle[kDown], limit[kDown];
    int count[kDown] = {};
#pragma unroll
    for (int k = 0; k < kDown; ++k) middle[k] = (low[k] + high[k]) / 2;
    each_sample(
        lines, side,
        [&](int j) {
#pragma unroll
          for (int k = 0; k < kDown; ++k) limit[k] = j >= k && j < k + side ? middle[k] : -1;
        },
        [&](int v) {
#pragma unroll
          for (int k = 0; k < kDown; ++k) count[k] += v <= limit[k] ? 1 : 0;
        });
#pragma unroll
    for (int k = 0; k < kDown; ++k) {
      if (count[k] >= majority) {
        high[k] = middle[k];
      } else {
        low[k] = min(middle[k] + 1, high[k]);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < kDown; ++k) result[k] = low[k];
}

// A grid of tiles of kAcross x kBisectionRows pixels, blocks striding over those of plane blockIdx.z. Shared
// memory: the tile with its halo, up to 4.1 KiB. Barriers: the tile is loaded; all threads have read it.
template <class T>
__global__ __launch_bounds__(kBisectionThreads) void bisection_kernel(DevicePlanes<const T> in,
                                                                      DevicePlanes<T> out, int radius) {
  __shared__ T lines[kLines][kLineSamples];
  const Plane<const T, Device> from = plane_of_block(in);
  const Plane<T, Device> to = plane_of_block(out);
  const int side = 2 * radius + 1;
  const int line_samples = kAcross + 2 * radius;
  const std::int64_t across = (to.width + kAcross - 1) / kAcross;
  const std::int64_t tiles = across * ((to.height + kBisectionRows - 1) / kBisectionRows);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t left = tile % across * kAcross;
    const std::int64_t top = tile / across * kBisectionRows;
    for (int i = static_cast<int>(threadIdx.x); i < (kBisectionRows + 2 * radius) * line_samples;
         i += kBisectionThreads) {
      const int line = i / line_samples;
      const int column = i - line * line_samples;
      lines[line][column] = __ldg(from.row(replicated(top + line - radius, from.height)) +
                                  replicated(left + column - radius, from.width));
    }
    __syncthreads();
    const int column = static_cast<int>(threadIdx.x) % kAcross;
    const int row = static_cast<int>(threadIdx.x) / kAcross * kDown;
    if (left + column < to.width && top + row < to.height) {
      int result[kDown];
      bisect(&lines[row][column], side, result);
#pragma unroll
      for (int k = 0; k < kDown; ++k) {
        if (top + row + k < to.height) to.row(top + row + k)[left + column] = static_cast<T>(result[k]);
      }
    }
    __syncthreads();
  }
}

template <class T>
CudaStatus launch_bisection(const StageCall<Device>& call, const CudaLaunch& launch) {
  const FrameType& type = call.in.type;
  const std::int64_t tiles =
      ((type.width + kAcross - 1) / kAcross) * ((type.height + kBisectionRows - 1) / kBisectionRows);
  const dim3 grid(static_cast<unsigned>(std::min(tiles, kMaxBisectionBlocks)), 1,
                  static_cast<unsigned>(type.color_channels));
  bisection_kernel<T><<<grid, kBisectionThreads, 0, launch.stream>>>(
      color_planes_of<T>(call.in), color_planes_of<T>(call.out), MedianParameters(call.parameters).radius);
  return cudaGetLastError();
}

template <class T>
CudaStatus launch_median(const StageCall<Device>& call, const CudaLaunch& launch) {
  switch (MedianParameters(call.parameters).radius) {
    case 1:
      return launch_tiles<T>(&median_kernel<T, 1>, call, launch);
    case 2:
      return launch_tiles<T>(&median_kernel<T, 2>, call, launch);
    default:
      return launch_bisection<T>(call, launch);
  }
}

}  // namespace

CudaStatus median_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_median<T>(call, launch); });
}

}  // namespace imgpipe

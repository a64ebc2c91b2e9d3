// Computes medians by exchanges (network.h) in registers, from windows in shared memory. Each register holds
// one sample from each of two rows' windows, one per half. An exchange of two pixels then takes two
// instructions on devices with minima and maxima of halves (compute capability 9.0 and later), and a few more
// on others. A thread sorts the 6 or 8 columns of its four pixels' windows, then finds four pairs of medians.
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

template <class T>
CudaStatus launch_median(const StageCall<Device>& call, const CudaLaunch& launch) {
  const bool three = MedianParameters(call.parameters).radius == 1;
  return launch_tiles<T>(three ? &median_kernel<T, 1> : &median_kernel<T, 2>, call, launch);
}

}  // namespace

CudaStatus median_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_median<T>(call, launch); });
}

}  // namespace imgpipe

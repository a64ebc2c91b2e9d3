// The CUDA variants of median, oldest first.
#include <utility>

#include "kernels/median/median.h"
#include "kernels/median/network.h"
#include "kernels/shared/shared_tile.cuh"
#include "lab/kernels/tiles.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

template <int Radius>
constexpr int kSide = 2 * Radius + 1;
template <int Radius>
constexpr int kSamples = kSide<Radius>* kSide<Radius>;

// ---- selection: load(x, y) returns the sample at that offset from the window's first -------------------

// Sorts by insertion. A sample's position is known only at run time, so the array is in local memory.
template <int Radius>
struct Insertion {
  template <class Load>
  __device__ static Sample8 median(const Load& load) {
    Sample8 sorted[kSamples<Radius>];
    for (int i = 0; i < kSamples<Radius>; ++i) {
      const Sample8 value = load(i % kSide<Radius>, i / kSide<Radius>);
      int at = i;
      for (; at > 0 && sorted[at - 1] > value; --at) sorted[at] = sorted[at - 1];
      sorted[at] = value;
    }
    return sorted[kSamples<Radius> / 2];
  }
};

__device__ __forceinline__ void exchange(std::uint32_t& low, std::uint32_t& high) {
  const std::uint32_t lesser = min(low, high);
  high = max(low, high);
  low = lesser;
}

// Moves the least of Count samples to the front and the greatest to the end. Exchanging pairs first leaves
// the least in the front half and the greatest in the back half.
template <int Count, int Room>
__device__ __forceinline__ void extremes_to_ends(std::uint32_t (&v)[Room]) {
#pragma unroll
  for (int i = 0; i < Count / 2; ++i) exchange(v[i], v[Count - 1 - i]);
#pragma unroll
  for (int i = 1; i < (Count + 1) / 2; ++i) exchange(v[0], v[i]);
#pragma unroll
  for (int i = Count / 2; i < Count - 1; ++i) exchange(v[i], v[Count - 1]);
}

// Among kHeld samples, the least and the greatest each have more than half of all samples on one side, so
// neither is the median. Both are dropped and one is added, until three are left.
template <int Radius>
struct Forgetful {
  static constexpr int kHeld = kSamples<Radius> / 2 + 2;

  template <int Count, class Load>
  __device__ static void forget(std::uint32_t (&v)[kHeld], const Load& load) {
    extremes_to_ends<Count>(v);
    if constexpr (Count > 3) {
      constexpr int kNext = 2 * kHeld - Count;
      v[0] = load(kNext % kSide<Radius>, kNext / kSide<Radius>);
      forget<Count - 1>(v, load);
    }
  }
  template <class Load>
  __device__ static Sample8 median(const Load& load) {
    std::uint32_t v[kHeld];
#pragma unroll
    for (int i = 0; i < kHeld; ++i) v[i] = load(i % kSide<Radius>, i / kSide<Radius>);
    forget<kHeld>(v, load);
    return static_cast<Sample8>(v[1]);
  }
};
static_assert(Forgetful<1>::kHeld == 6 && Forgetful<2>::kHeld == 14);

// Exchanges the samples of one pixel, or of four in the bytes of a word.
struct PixelExchange {
  __device__ static void exchange(std::uint32_t& low, std::uint32_t& high) { imgpipe::exchange(low, high); }
};
struct ByteExchange {
  __device__ static void exchange(std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t lesser = __vminu4(low, high);
    high = __vmaxu4(low, high);
    low = lesser;
  }
};

// Exchanges elements `Step` apart. The list is constant, so no index is computed at run time.
template <class Of, const auto& Exchanges, int Step, std::size_t... I>
__device__ __forceinline__ void exchange_all(std::uint32_t* first, std::index_sequence<I...>) {
  (Of::exchange(first[Exchanges[I].low * Step], first[Exchanges[I].high * Step]), ...);
}
template <class Of, const auto& Exchanges, int Step = 1>
__device__ __forceinline__ void exchange_all(std::uint32_t* first) {
  exchange_all<Of, Exchanges, Step>(first, std::make_index_sequence<Exchanges.size()>());
}

// Returns the median of sorted columns; v[r * side + k] is the sample of rank r in column k.
template <class Of, int Radius>
__device__ __forceinline__ std::uint32_t middle_of_columns(std::uint32_t (&v)[kSamples<Radius>]) {
  exchange_all<Of, MedianNetwork<Radius>::kMiddle>(v);
  return v[MedianNetwork<Radius>::kResult];
}

template <int Radius>
struct Network {
  template <class Load>
  __device__ static Sample8 median(const Load& load) {
    std::uint32_t v[kSamples<Radius>];
#pragma unroll
    for (int i = 0; i < kSamples<Radius>; ++i) v[i] = load(i % kSide<Radius>, i / kSide<Radius>);
#pragma unroll
    for (int k = 0; k < kSide<Radius>; ++k)
      exchange_all<PixelExchange, MedianNetwork<Radius>::kColumn, kSide<Radius>>(v + k);
    return static_cast<Sample8>(middle_of_columns<PixelExchange, Radius>(v));
  }
};

// ---- one thread per pixel ----------------------------------------------------------------------------

// Reads windows from global memory.
template <int Radius>
__global__ __launch_bounds__(kMaxBlockThreads) void naive_kernel(Source in, Target out) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y) {
    out.row(y)[x] = Insertion<Radius>::median([&](int dx, int dy) {
      return in.row(replicated(y + dy - Radius, in.height))[replicated(x + dx - Radius, in.width)];
    });
  }
}

// Reads windows from a tile in shared memory.
template <int Radius, class Way>
__global__ __launch_bounds__(kMaxBlockThreads) void tile_kernel(Source in, Target out) {
  __shared__ LabTile<Sample8, Radius> tile;
  const auto load = [&](std::int64_t x, std::int64_t y) {
    return in.row(replicated(y, in.height))[replicated(x, in.width)];
  };
  each_tile(tile, in.width, in.height, load, [&](std::int64_t x, std::int64_t y, int column, int row) {
    if (x < in.width && y < in.height)
      out.row(y)[x] = Way::median([&](int dx, int dy) { return tile.sample[row + dy][column + dx]; });
  });
}

// ---- four pixels per thread --------------------------------------------------------------------------

// Sorts each column once for the four windows.
template <int Radius>
struct ByColumns {
  __device__ static std::uint32_t medians(const SharedTile<Sample8, Radius>& tile, int lane, int row) {
    constexpr int kColumns = kGroup + 2 * Radius;
    std::uint32_t ranks[kSide<Radius> * kColumns];  // laid out like a window kColumns wide
#pragma unroll
    for (int j = 0; j < kSide<Radius>; ++j) {
      std::uint32_t words[3];
      tile.read(row + j, lane, words);
#pragma unroll
      for (int k = 0; k < kColumns; ++k) ranks[j * kColumns + k] = byte_of(words, kGroup - Radius + k);
    }
#pragma unroll
    for (int k = 0; k < kColumns; ++k)
      exchange_all<PixelExchange, MedianNetwork<Radius>::kColumn, kColumns>(ranks + k);
    std::uint32_t packed = 0;
#pragma unroll
    for (int x = 0; x < kGroup; ++x) {
      std::uint32_t v[kSamples<Radius>];
#pragma unroll
      for (int i = 0; i < kSamples<Radius>; ++i)
        v[i] = ranks[i / kSide<Radius> * kColumns + i % kSide<Radius> + x];
      packed |= middle_of_columns<PixelExchange, Radius>(v) << (8 * x);
    }
    return packed;
  }
};

// Four pixels at once: a word holds four columns. Shifted by k - Radius bytes, it holds column k of four
// windows.
template <int Radius>
struct ByBytes {
  __device__ static std::uint32_t medians(const SharedTile<Sample8, Radius>& tile, int lane, int row) {
    std::uint32_t ranks[kSide<Radius> * 3];
#pragma unroll
    for (int j = 0; j < kSide<Radius>; ++j) {
      std::uint32_t words[3];
      tile.read(row + j, lane, words);
#pragma unroll
      for (int i = 0; i < 3; ++i) ranks[j * 3 + i] = words[i];
    }
#pragma unroll
    for (int i = 0; i < 3; ++i) exchange_all<ByteExchange, MedianNetwork<Radius>::kColumn, 3>(ranks + i);
    std::uint32_t v[kSamples<Radius>];
#pragma unroll
    for (int i = 0; i < kSamples<Radius>; ++i) {
      const std::uint32_t* three = ranks + i / kSide<Radius> * 3;
      const int shift = i % kSide<Radius> - Radius;  // bytes to the right
      v[i] = shift == 0  ? three[1]
             : shift < 0 ? __funnelshift_l(three[0], three[1], static_cast<unsigned>(-8 * shift))
                         : __funnelshift_r(three[1], three[2], static_cast<unsigned>(8 * shift));
    }
    return middle_of_columns<ByteExchange, Radius>(v);
  }
};

// Shared memory: the product's tile, 2.7 KiB.
template <int Radius, class Way>
__global__ __launch_bounds__(kTileThreads) void four_kernel(DevicePlanes<const Sample8> in,
                                                            DevicePlanes<Sample8> out, FrameType shape,
                                                            std::int64_t tiles) {
  __shared__ SharedTile<Sample8, Radius> tile;
  each_tile<Border::replicate>(tile, in, out, shape, tiles,
                               [&](int lane, int row, FourSamples<Sample8>(&rows)[2]) {
                                 rows[0].word[0] = Way::medians(tile, lane, row);
                                 rows[1].word[0] = Way::medians(tile, lane, row + 1);
                               });
}

using Kernel = void (*)(Source, Target);

Kernel kernel_for(const StageCall<Device>& call, Kernel of_3, Kernel of_5) {
  return MedianParameters(call.parameters).radius == 1 ? of_3 : of_5;
}

CudaStatus launch_tiles(Kernel of_3, Kernel of_5, const StageCall<Device>& call,
                        const VariantLaunch& launch) {
  return launch_pixels(kernel_for(call, of_3, of_5), striding(launch), call, launch);
}

CudaStatus launch_fours(TileKernel<Sample8> of_3, TileKernel<Sample8> of_5, const StageCall<Device>& call,
                        const VariantLaunch& launch) {
  return launch_tiles<Sample8>(MedianParameters(call.parameters).radius == 1 ? of_3 : of_5, call, launch);
}

}  // namespace

CudaStatus median_naive(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_pixels(kernel_for(call, naive_kernel<1>, naive_kernel<2>), covering(call, launch), call,
                       launch);
}

CudaStatus median_tile(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_tiles(tile_kernel<1, Insertion<1>>, tile_kernel<2, Insertion<2>>, call, launch);
}

CudaStatus median_forgetful(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_tiles(tile_kernel<1, Forgetful<1>>, tile_kernel<2, Forgetful<2>>, call, launch);
}

CudaStatus median_network(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_tiles(tile_kernel<1, Network<1>>, tile_kernel<2, Network<2>>, call, launch);
}

CudaStatus median_columns(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_fours(four_kernel<1, ByColumns<1>>, four_kernel<2, ByColumns<2>>, call, launch);
}

CudaStatus median_bytes(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_fours(four_kernel<1, ByBytes<1>>, four_kernel<2, ByBytes<2>>, call, launch);
}

}  // namespace imgpipe

// Filtered rows, and what is counted of them on the way.
#include <cuda_runtime.h>

#include "kernels/png/filter_word.h"
#include "kernels/png/steps.h"
#include "kernels/png/tile.cuh"

namespace imgpipe::png_strips {
namespace {

constexpr std::uint32_t kAdlerBase = 65521;
// "To the tile's end and perhaps beyond": so far no run within a tile reaches.
constexpr std::uint32_t kBeyond = std::uint32_t{1} << 29;

__device__ inline Filter filter_of(const Group& group, const Picture& picture, std::uint32_t y) {
  if (picture.segments_a_row == 1) return static_cast<Filter>(group.types[picture.first_row + y]);
  return best_filter(group.sums[picture.first_sum + y].of, y % picture.strip_rows != 0);
}

// A row's words, zeros outside it: `at` counts words from its first on.
struct RowWords {
  const std::uint32_t* words;
  std::uint32_t count;
  __device__ std::uint32_t operator()(std::int32_t at) const {
    return static_cast<std::uint32_t>(at) < count ? __ldg(words + at) : 0;
  }
};

// Sets the bytes of `window` that `inside` has a bit for: those of a filtered row from byte `from` (of the
// row; below 0 where the row begins within the window) on.
template <Filter F>
__device__ inline void filter_window(const Picture& picture, const std::uint8_t* row, std::int32_t from,
                                     std::uint32_t inside, std::uint32_t (&window)[8]) {
  constexpr bool kUsesLeft = F == kSub || F == kAverage || F == kPaeth;
  constexpr bool kUsesAbove = F == kUp || F == kAverage || F == kPaeth;
  const unsigned left_shift = 32 - 8 * picture.channels;
  const std::uint32_t count = (picture.row_bytes + 3) / 4;
  const RowWords x_words{reinterpret_cast<const std::uint32_t*>(row), count};
  const RowWords b_words{reinterpret_cast<const std::uint32_t*>(row - (kUsesAbove ? picture.stride : 0)), count};
  const std::int32_t first = from >> 2;  // rounded down
  const unsigned shift = 8 * (static_cast<unsigned>(from) & 3);
  std::uint32_t x_low = x_words(first);
  std::uint32_t b_low = kUsesAbove ? b_words(first) : 0;
  std::uint32_t x_before = kUsesLeft ? joined_words(x_words(first - 1), x_low, shift) : 0;
  std::uint32_t b_before = F == kPaeth ? joined_words(b_words(first - 1), b_low, shift) : 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const std::uint32_t x_high = x_words(first + k + 1);
    const std::uint32_t x = joined_words(x_low, x_high, shift);
    x_low = x_high;
    std::uint32_t b = 0;
    if (kUsesAbove) {
      const std::uint32_t b_high = b_words(first + k + 1);
      b = joined_words(b_low, b_high, shift);
      b_low = b_high;
    }
    const FilterWords n{x, joined_words(x_before, x, left_shift), b, joined_words(b_before, b, left_shift)};
    x_before = x;
    b_before = b;
    const std::uint32_t mask = byte_mask(inside >> 4 * k);
    window[k] = (window[k] & ~mask) | (filtered_word<F>(n) & mask);
  }
}

// The `valid` bytes from `begin` of the strip on, zeros behind them. A window has parts of as many rows as
// fit.
__device__ inline void fill_window(const Group& group, const Tile& tile, std::uint32_t begin,
                                   std::uint32_t valid, std::uint32_t (&window)[8]) {
  const Picture& picture = tile.picture;
  const std::uint32_t line = picture.row_bytes + 1;
  std::uint32_t y = begin / line;
  // Of the row's bytes, without the type, that the window begins with; -1: it begins with the type.
  auto from = static_cast<std::int32_t>(begin - y * line) - 1;
  y += tile.strip * picture.strip_rows;
  for (;;) {
    const Filter filter = filter_of(group, picture, y);
    const std::uint8_t* row = picture.pixels + y * picture.stride;
    const std::int32_t end = static_cast<std::int32_t>(picture.row_bytes) - from;  // of the row, in the window
    std::uint32_t inside = low_bits(valid) & low_bits(static_cast<std::uint32_t>(end));
    if (from < 0) {
      inside &= ~low_bits(static_cast<std::uint32_t>(-from));
      const auto type_at = static_cast<unsigned>(-from - 1);
#pragma unroll
      for (unsigned k = 0; k < 8; ++k) {
        if (type_at / 4 == k) window[k] |= filter << 8 * (type_at % 4);
      }
    }
    switch (filter) {
      case kSub:
        filter_window<kSub>(picture, row, from, inside, window);
        break;
      case kUp:
        filter_window<kUp>(picture, row, from, inside, window);
        break;
      case kAverage:
        filter_window<kAverage>(picture, row, from, inside, window);
        break;
      case kPaeth:
        filter_window<kPaeth>(picture, row, from, inside, window);
        break;
      default:
        filter_window<kNone>(picture, row, from, inside, window);
    }
    if (end >= static_cast<std::int32_t>(valid)) return;
    ++y;
    from -= static_cast<std::int32_t>(line);
  }
}

// One byte of the strip: the one before a tile, which another block writes.
__device__ std::uint32_t filtered_byte(const Group& group, const Tile& tile, std::uint32_t at) {
  std::uint32_t window[8]{};
  fill_window(group, tile, at, 1, window);
  return window[0];
}

// ---- counters: as kernels/hist/shared_counters.cuh, with two bins of 16 bits a word -----------------------

constexpr unsigned kColumns = 32;
constexpr unsigned kCounterWords = 128 * kColumns;
static_assert(kTileBytes < 65536);

__device__ inline void clear_counters(std::uint32_t* counts) {
  auto* vectors = reinterpret_cast<uint4*>(counts);
  for (unsigned i = threadIdx.x; i < kCounterWords / 4; i += kTileThreads) vectors[i] = make_uint4(0, 0, 0, 0);
}

__device__ inline std::uint32_t* counter_of(std::uint32_t* column, std::uint32_t byte) {
  return column + byte / 2 * kColumns;
}
__device__ inline std::uint32_t unit_of(std::uint32_t byte) {
  return (byte & 1) != 0 ? 65536U : 1U;
}

__device__ inline void count_bytes(std::uint32_t* counts, const std::uint32_t (&window)[8],
                                   std::uint32_t valid) {
  std::uint32_t* column = counts + threadIdx.x % kColumns;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) {
      const std::uint32_t byte = window[k] >> 8 * j & 255;
      if (4 * k + j < valid) atomicAdd(counter_of(column, byte), unit_of(byte));
    }
  }
}

// The counts of literals, two a word; the sums stay below 65536 each.
__device__ inline void write_counts(const std::uint32_t* counts, TileState& state) {
  constexpr unsigned kThreadsAWord = kTileThreads / 128;
  const unsigned word = threadIdx.x / kThreadsAWord;
  const unsigned part = threadIdx.x % kThreadsAWord;
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kColumns / kThreadsAWord; ++i)
    sum += counts[word * kColumns + (kThreadsAWord * i + part + word) % kColumns];
#pragma unroll
  for (unsigned step = 1; step < kThreadsAWord; step *= 2)
    sum += __shfl_xor_sync(kAllLanes, sum, static_cast<int>(step));
  if (part == 0) reinterpret_cast<std::uint32_t*>(state.counts)[word] = sum;
}

// ---- Adler-32 ---------------------------------------------------------------------------------------------

struct Adler {
  std::uint32_t low, high;
};

// Of a window, as part of a tile of `bytes`: the sum of its bytes, and of each times how many bytes of the
// tile are not before it. Bytes that are not there are zeros.
__device__ inline Adler adler_of_window(const std::uint32_t (&window)[8], std::uint32_t at, std::uint32_t bytes) {
  std::uint32_t low = 0;
  std::uint32_t weighted = 0;  // 32 for the window's first byte, 1 for its last
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    low = __dp4a(window[k], 0x01010101U, low);
    const std::uint32_t first = kWindowBytes - 4 * k;
    weighted = __dp4a(window[k], first | (first - 1) << 8 | (first - 2) << 16 | (first - 3) << 24, weighted);
  }
  // Modulo 2^32 on the way: the last window may have fewer bytes than 32.
  return {low, (weighted + low * (bytes - at - kWindowBytes)) % kAdlerBase};
}

// ---- the kernel -------------------------------------------------------------------------------------------

struct Shared {
  std::uint32_t counts[kCounterWords];
  std::uint32_t lengths[32];  // 257.., as the symbols behind the literals
  WarpEnds ends[kTileWarps];
  std::uint8_t last_bytes[kTileWarps];
  Adler adlers[kTileWarps];
};

// Takes runs within the tile out of the literals: where they begin.
__device__ inline void count_runs(Shared& shared, const std::uint32_t (&window)[8], std::uint32_t equal,
                                  const Reach& reach) {
  for_each_run(equal, reach.in, reach.out, [&](const Run& run) {
    if (run.first < 0 || run.length >= kBeyond) return;
    const RunShare share(run.length, 0, run.length);
    std::uint32_t byte = 0;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      if (static_cast<unsigned>(run.first) / 4 == k) byte = window[k] >> 8 * (run.first % 4) & 255;
    }
    std::uint32_t* column = shared.counts + threadIdx.x % kColumns;
    atomicSub(counter_of(column, byte), share.copied * unit_of(byte));
    if (share.longest > 0) atomicAdd(&shared.lengths[length_symbol(kLongestCopy).symbol - 257], share.longest);
    if (share.rest > 0) atomicAdd(&shared.lengths[length_symbol(share.rest).symbol - 257], 1U);
  });
}

__global__ __launch_bounds__(kTileThreads, 2) void write_kernel(Group group) {
  __shared__ __align__(16) Shared shared;
  const Tile tile(group);
  TileState& state = group.tile_states[blockIdx.x];
  clear_counters(shared.counts);
  if (threadIdx.x < 32) shared.lengths[threadIdx.x] = 0;
  const std::uint32_t at = threadIdx.x * kWindowBytes;  // in the tile
  const std::uint32_t valid = at >= tile.bytes ? 0 : min(tile.bytes - at, kWindowBytes);
  std::uint32_t window[8]{};
  if (valid > 0) {
    fill_window(group, tile, tile.begin + at, valid, window);
    auto* to = reinterpret_cast<uint4*>(tile.filtered(group) + tile.begin + at);
    to[0] = make_uint4(window[0], window[1], window[2], window[3]);
    to[1] = make_uint4(window[4], window[5], window[6], window[7]);
  }
  std::uint32_t before = 0;
  if (threadIdx.x == 0 && tile.begin > 0) before = filtered_byte(group, tile, tile.begin - 1);
  __syncwarp();
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  if (lane == kLanes - 1) shared.last_bytes[warp] = static_cast<std::uint8_t>(window[7] >> 24);
  const std::uint32_t from_lane = __shfl_up_sync(kAllLanes, window[7] >> 24, 1);
  __syncthreads();
  count_bytes(shared.counts, window, valid);
  if (lane > 0) {
    before = from_lane;
  } else if (warp > 0) {
    before = shared.last_bytes[warp - 1];
  }
  std::uint32_t equal = equal_bytes(window, before) & low_bits(valid);
  if (tile.begin + at == 0) equal &= ~1U;
  const Reach reach = reach_of_windows(equal, kBeyond, kBeyond, shared.ends);
  count_runs(shared, window, equal, reach);
  Adler adler = adler_of_window(window, at, tile.bytes);
  adler = {warp_sum(adler.low), warp_sum(adler.high)};
  if (lane == 0) shared.adlers[warp] = adler;
  __syncthreads();
  write_counts(shared.counts, state);
  if (threadIdx.x < 16) {
    // The end of the block is not counted, nor are there more than 29 symbols.
    const unsigned i = 2 * threadIdx.x;
    const std::uint32_t low = i == 0 ? 0 : shared.lengths[i - 1];
    reinterpret_cast<std::uint32_t*>(state.counts)[128 + threadIdx.x] = low | shared.lengths[i] << 16;
  }
  if (warp != 0) return;
  adler = lane < kTileWarps ? shared.adlers[lane] : Adler{0, 0};
  adler = {warp_sum(adler.low), warp_sum(adler.high)};
  if (lane != 0) return;
  state.adler_low = adler.low % kAdlerBase;
  state.adler_high = adler.high % kAdlerBase;
  std::uint32_t ones = 0;
  unsigned w = 0;
  for (; w < kTileWarps && shared.ends[w].leading == kWarpBytes; ++w) ones += kWarpBytes;
  state.leading = w < kTileWarps ? ones + shared.ends[w].leading : ones;
  ones = 0;
  for (w = kTileWarps; w > 0 && shared.ends[w - 1].trailing == kWarpBytes; --w) ones += kWarpBytes;
  state.trailing = w > 0 ? ones + shared.ends[w - 1].trailing : ones;
}

}  // namespace

CudaStatus write_filtered(const Group& group, CUstream_st* stream) {
  write_kernel<<<group.tiles, kTileThreads, 0, stream>>>(group);
  return cudaGetLastError();
}

}  // namespace imgpipe::png_strips

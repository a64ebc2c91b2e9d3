// Writes filtered rows and counts their tokens.
#include <cuda_runtime.h>

#include "kernels/png/filter_word.h"
#include "kernels/png/steps.h"
#include "kernels/png/tile.cuh"

namespace imgpipe::png_strips {
namespace {

constexpr std::uint32_t kAdlerBase = 65521;
// Stands for "to the tile's end and perhaps beyond"; longer than any run within a tile.
constexpr std::uint32_t kBeyond = std::uint32_t{1} << 29;

__device__ inline Filter filter_of(const Group& group, const PngImage& picture, std::uint32_t y) {
  if (picture.segments_per_row == 1) return static_cast<Filter>(group.types[picture.first_row + y]);
  return best_filter(group.sums[picture.first_sum + y].of, y % picture.strip_rows != 0);
}

// Loads nine words of a row from word `first` on; zeros outside the row.
__device__ inline void load_words(const std::uint8_t* row, std::uint32_t vectors, std::int32_t first,
                                  std::uint32_t (&words)[9]) {
  std::uint32_t all[12];
  const std::int32_t vector = first >> 2;  // rounded down
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    uint4 v = make_uint4(0, 0, 0, 0);
    if (static_cast<std::uint32_t>(vector + i) < vectors)
      v = __ldg(reinterpret_cast<const uint4*>(row) + (vector + i));
    all[4 * i] = v.x, all[4 * i + 1] = v.y, all[4 * i + 2] = v.z, all[4 * i + 3] = v.w;
  }
  const bool two = (first & 2) != 0;
  const bool one = (first & 1) != 0;
#pragma unroll
  for (int k = 0; k < 10; ++k) all[k] = two ? all[k + 2] : all[k];
#pragma unroll
  for (int k = 0; k < 9; ++k) words[k] = one ? all[k + 1] : all[k];
}
__device__ inline std::uint32_t load_word(const std::uint8_t* row, std::uint32_t vectors, std::int32_t at) {
  return static_cast<std::uint32_t>(at) < 4 * vectors
             ? __ldg(reinterpret_cast<const std::uint32_t*>(row) + at)
             : 0;
}

// Copies a filtered row, from its byte `from` on, to `window`, from byte `start` on. `from` is negative if
// the row begins within the window. Bytes beyond the row's end are undefined.
template <Filter F>
__device__ inline void filter_window(const PngImage& picture, const std::uint8_t* row, std::int32_t from,
                                     std::int32_t start, std::uint32_t (&window)[8]) {
  constexpr bool kUsesLeft = F == kSub || F == kAverage || F == kPaeth;
  constexpr bool kUsesAbove = F == kUp || F == kAverage || F == kPaeth;
  const unsigned left_shift = 32 - 8 * picture.channels;
  const std::uint8_t* above = row - picture.stride;
  const std::uint32_t vectors = (picture.row_bytes + 15) / 16;
  const std::int32_t first = from >> 2;
  const unsigned shift = 8 * (static_cast<unsigned>(from) & 3);
  std::uint32_t xs[9];
  std::uint32_t bs[9]{};
  load_words(row, vectors, first, xs);
  if (kUsesAbove) load_words(above, vectors, first, bs);
  std::uint32_t x_before = kUsesLeft ? joined_words(load_word(row, vectors, first - 1), xs[0], shift) : 0;
  std::uint32_t b_before = F == kPaeth ? joined_words(load_word(above, vectors, first - 1), bs[0], shift) : 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const std::uint32_t x = joined_words(xs[k], xs[k + 1], shift);
    const std::uint32_t b = kUsesAbove ? joined_words(bs[k], bs[k + 1], shift) : 0;
    const FilterWords n{x, joined_words(x_before, x, left_shift), b, joined_words(b_before, b, left_shift)};
    x_before = x;
    b_before = b;
    const std::int32_t kept = max(0, 8 * start - 32 * k);  // bits
    const std::uint32_t mask = kept >= 32 ? 0 : ~0U << kept;
    window[k] = (window[k] & ~mask) | (filtered_word<F>(n) & mask);
  }
}

// A warp processes several rows at a time if they are shorter than this.
constexpr std::uint32_t kLongLine = 512;

// Fills a window with the `valid` bytes from `begin` of the strip on, then zeros. All lanes of a warp must
// call it; those without bytes must be last. If rows are long, the warp takes one at a time, with one filter
// for all lanes.
__device__ inline void fill_window(const Group& group, const Tile& tile, std::uint32_t begin,
                                   std::uint32_t valid, std::uint32_t (&window)[8]) {
  const PngImage& picture = tile.picture;
  const std::uint32_t line = picture.row_bytes + 1;
  const std::uint32_t lanes = __ballot_sync(kAllLanes, valid > 0);
  if (lanes == 0) return;
  const std::uint32_t own_first = valid > 0 ? begin / line : 1;
  const std::uint32_t own_last = valid > 0 ? (begin + valid - 1) / line : 0;
  std::uint32_t first = own_first;
  std::uint32_t last = own_last;
  if (line >= kLongLine) {
    first = __shfl_sync(kAllLanes, own_first, 0);
    last = __shfl_sync(kAllLanes, own_last, 31 - __clz(static_cast<int>(lanes)));
  }
  for (std::uint32_t in_strip = first; in_strip <= last; ++in_strip) {
    const std::uint32_t y = tile.strip * picture.strip_rows + in_strip;
    const Filter filter = filter_of(group, picture, y);
    if (in_strip < own_first || in_strip > own_last) continue;
    const std::uint8_t* row = picture.pixels + y * picture.stride;
    // -1: the window begins with the row's filter type.
    const auto from = static_cast<std::int32_t>(begin - in_strip * line) - 1;
    const std::int32_t start = max(0, -from);
    switch (filter) {
      case kSub:
        filter_window<kSub>(picture, row, from, start, window);
        break;
      case kUp:
        filter_window<kUp>(picture, row, from, start, window);
        break;
      case kAverage:
        filter_window<kAverage>(picture, row, from, start, window);
        break;
      case kPaeth:
        filter_window<kPaeth>(picture, row, from, start, window);
        break;
      default:
        filter_window<kNone>(picture, row, from, start, window);
    }
    if (start == 0) continue;
    const auto type_at = static_cast<unsigned>(start) - 1;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned shift = 8 * (type_at % 4);
      if (type_at / 4 == k) window[k] = (window[k] & ~(255U << shift)) | filter << shift;
    }
  }
  if (valid == kWindowBytes) return;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) window[k] &= byte_mask(low_bits(valid) >> 4 * k);
}

// Returns one byte of the strip: the one before a tile, which another block writes.
__device__ inline std::uint32_t filtered_byte(const Group& group, const Tile& tile, std::uint32_t at) {
  const PngImage& picture = tile.picture;
  const std::uint32_t line = picture.row_bytes + 1;
  const std::uint32_t in_strip = at / line;
  const std::uint32_t y = tile.strip * picture.strip_rows + in_strip;
  const Filter filter = filter_of(group, picture, y);
  if (at == in_strip * line) return filter;
  const std::uint32_t x = at - in_strip * line - 1;
  const std::uint8_t* row = picture.pixels + y * picture.stride;
  const bool has_left = x >= picture.channels;
  const bool uses_above = filter >= kUp;
  const FilterWords n{row[x], has_left ? row[x - picture.channels] : 0U,
                      uses_above ? *(row - picture.stride + x) : 0U,
                      uses_above && has_left ? *(row - picture.stride + x - picture.channels) : 0U};
  switch (filter) {
    case kSub:
      return filtered_word<kSub>(n) & 255;
    case kUp:
      return filtered_word<kUp>(n) & 255;
    case kAverage:
      return filtered_word<kAverage>(n) & 255;
    case kPaeth:
      return filtered_word<kPaeth>(n) & 255;
    default:
      return n.x;
  }
}

// ---- counters: as kernels/shared/shared_counters.cuh, with two bins of 16 bits a word -----------------

constexpr unsigned kColumns = 32;
constexpr unsigned kCounterWords = 128 * kColumns;
static_assert(kTileBytes < 65536);

__device__ inline void clear_counters(std::uint32_t* counts) {
  auto* vectors = reinterpret_cast<uint4*>(counts);
  for (unsigned i = threadIdx.x; i < kCounterWords / 4; i += kTileThreads)
    vectors[i] = make_uint4(0, 0, 0, 0);
}

// Returns the offset, in words, of the counter of a word's byte `Byte` from the first counter of the column.
// Counting the byte adds unit_of() to the counter.
template <int Byte>
__device__ inline std::uint32_t counter_of(std::uint32_t word) {
  static_assert(kColumns == 32);
  return (Byte == 0 ? word << 4 : word >> (8 * Byte - 4)) & 0xFE0;
}
template <int Byte>
__device__ inline std::uint32_t unit_of(std::uint32_t word) {
  return (word & 1U << 8 * Byte) != 0 ? 65536U : 1U;
}

template <int Byte>
__device__ inline void count_byte(std::uint32_t* counts, std::uint32_t word) {
  atomicAdd(counts + (counter_of<Byte>(word) | threadIdx.x % kColumns), unit_of<Byte>(word));
}

__device__ inline void count_bytes(std::uint32_t* counts, const std::uint32_t (&window)[8],
                                   std::uint32_t valid) {
  if (valid == kWindowBytes) {
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      count_byte<0>(counts, window[k]);
      count_byte<1>(counts, window[k]);
      count_byte<2>(counts, window[k]);
      count_byte<3>(counts, window[k]);
    }
  } else {
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      for (unsigned j = 4 * k; j < 4 * k + 4 && j < valid; ++j)
        count_byte<0>(counts, window[k] >> 8 * (j % 4));
    }
  }
}

// Stores the counts of literals, two per word; each is below 65536.
__device__ inline void write_counts(const std::uint32_t* counts, TileState& state) {
  constexpr unsigned kThreadsPerWord = kTileThreads / 128;
  const unsigned word = threadIdx.x / kThreadsPerWord;
  const unsigned part = threadIdx.x % kThreadsPerWord;
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kColumns / kThreadsPerWord; ++i)
    sum += counts[word * kColumns + (kThreadsPerWord * i + part + word) % kColumns];
#pragma unroll
  for (unsigned step = 1; step < kThreadsPerWord; step *= 2)
    sum += __shfl_xor_sync(kAllLanes, sum, static_cast<int>(step));
  if (part == 0) reinterpret_cast<std::uint32_t*>(state.counts)[word] = sum;
}

// ---- Adler-32 ---------------------------------------------------------------------------------------------

struct Adler {
  std::uint32_t low, high;
};

// Returns a window's contribution to the Adler-32 of a tile of `bytes` bytes: the sum of its bytes, and their
// sum weighted by the number of bytes from each to the tile's end. Missing bytes are zeros.
__device__ inline Adler adler_of_window(const std::uint32_t (&window)[8], std::uint32_t at,
                                        std::uint32_t bytes) {
  std::uint32_t low = 0;
  std::uint32_t weighted = 0;  // 32 for the window's first byte, 1 for its last
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    low = __dp4a(window[k], 0x01010101U, low);
    const std::uint32_t first = kWindowBytes - 4 * k;
    weighted = __dp4a(window[k], first | (first - 1) << 8 | (first - 2) << 16 | (first - 3) << 24, weighted);
  }
  // The factor wraps modulo 2^32 if the window has fewer than 32 bytes; the sum is correct.
  return {low, (weighted + low * (bytes - at - kWindowBytes)) % kAdlerBase};
}

// ---- the kernel -------------------------------------------------------------------------------------------

struct Shared {
  std::uint32_t counts[kCounterWords];
  std::uint32_t lengths[32];  // counts of lengths, the symbols from 257 on
  WarpEnds ends[kTileWarps];
  std::uint32_t run_warps;
  std::uint8_t last_bytes[kTileWarps];
  Adler adlers[kTileWarps];
};

__device__ inline void count_run(Shared& shared, std::uint32_t byte, std::uint32_t length) {
  const RunCut cut(length);
  atomicSub(shared.counts + (counter_of<0>(byte) | threadIdx.x % kColumns), cut.copied() * unit_of<0>(byte));
  if (cut.whole > 0) atomicAdd(&shared.lengths[length_symbol(kMaxCopy).symbol - 257], cut.whole / kMaxCopy);
  if (cut.rest > 0) atomicAdd(&shared.lengths[length_symbol(cut.rest).symbol - 257], 1U);
}

// Counts runs that begin in the window and end within the tile as copies instead of literals.
__device__ inline void count_runs(Shared& shared, const std::uint32_t (&window)[8], std::uint32_t equal,
                                  const Reach& reach) {
  const StartingRuns runs(equal, reach.in, reach.out);
  if (runs.inner >= kMinRun) {
    // Only constant indices: the window stays in registers.
    const unsigned at = runs.inner_last / 4;
    const std::uint32_t low =
        (at & 2) != 0 ? ((at & 1) != 0 ? window[3] : window[2]) : ((at & 1) != 0 ? window[1] : window[0]);
    const std::uint32_t high =
        (at & 2) != 0 ? ((at & 1) != 0 ? window[7] : window[6]) : ((at & 1) != 0 ? window[5] : window[4]);
    const std::uint32_t word = (at & 4) != 0 ? high : low;
    count_run(shared, word >> 8 * (runs.inner_last % 4) & 255, runs.inner);
  }
  if (runs.last >= kMinRun && runs.last < kBeyond) count_run(shared, window[7] >> 24, runs.last);
}

// One block of threads per tile, one thread per window of 32 bytes. Shared memory: Shared, 17 KB, mainly
// counters. Barriers: after clearing counters and storing last bytes; after storing the warps' ends; after
// all counting.
__global__ __launch_bounds__(kTileThreads, 2) void write_kernel(Group group) {
  __shared__ __align__(16) Shared shared;
  const Tile tile(group);
  TileState& state = group.tile_states[blockIdx.x];
  clear_counters(shared.counts);
  if (threadIdx.x < 32) shared.lengths[threadIdx.x] = 0;
  if (threadIdx.x == 0) shared.run_warps = 0;
  const std::uint32_t at = threadIdx.x * kWindowBytes;  // in the tile
  const std::uint32_t valid = at >= tile.bytes ? 0 : min(tile.bytes - at, kWindowBytes);
  std::uint32_t window[8]{};
  fill_window(group, tile, tile.begin + at, valid, window);
  if (valid > 0) {
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
  const WarpRuns runs(equal);
  const WarpEnds ends = runs.ends();
  if (lane == 0) shared.ends[warp] = ends;
  const bool own_runs = __any_sync(kAllLanes, may_have_runs(equal)) != 0;
  __syncthreads();
  // True also for runs that may extend into this warp from another warp or tile.
  const bool has_runs =
      own_runs || (warp > 0 ? shared.ends[warp - 1].trailing >= kHalfRun : ends.leading > 0) ||
      (warp + 1 < kTileWarps ? shared.ends[warp + 1].leading >= kHalfRun : ends.trailing > 0);
  if (has_runs) {
    count_runs(shared, window, equal, runs.reach(reach_of_warp(shared.ends, {kBeyond, kBeyond})));
    if (lane == 0) atomicOr(&shared.run_warps, 1U << warp);
  }
  Adler adler = adler_of_window(window, at, tile.bytes);
  adler = {warp_sum(adler.low), warp_sum(adler.high)};
  if (lane == 0) shared.adlers[warp] = adler;
  __syncthreads();
  write_counts(shared.counts, state);
  if (threadIdx.x < 16) {
    // The end of block is not counted, and there are at most 29 length symbols.
    const unsigned i = 2 * threadIdx.x;
    const std::uint32_t low = i == 0 ? 0 : shared.lengths[i - 1];
    reinterpret_cast<std::uint32_t*>(state.counts)[128 + threadIdx.x] = low | shared.lengths[i] << 16;
  }
  if (warp != 0) return;
  adler = lane < kTileWarps ? shared.adlers[lane] : Adler{0, 0};
  adler = {warp_sum(adler.low), warp_sum(adler.high)};
  if (lane != 0) return;
  state.run_warps = shared.run_warps;
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

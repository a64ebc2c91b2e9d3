// Computes each strip's codes, header, size and the offsets of its tiles' bits.
#include <cuda_runtime.h>

#include "images/codecs/png/huffman_tree.h"
#include "images/codecs/png/strip_rule.h"
#include "kernels/png/block_huffman.cuh"
#include "kernels/png/put_bits.cuh"
#include "kernels/png/steps.h"
#include "kernels/png/tile.cuh"

namespace imgpipe::png_strips {
namespace {

constexpr unsigned kPlanThreads = 512;
constexpr unsigned kPlanWarps = kPlanThreads / kLanes;
static_assert(kPlanThreads > kMaxHuffmanSymbols);
constexpr std::uint64_t kAdlerBase = 65521;

struct Strip {
  const PngImage* picture;
  std::uint32_t number;  // in the image
  std::uint32_t bytes, tiles;
  bool last;
  TileState* states;
  const std::uint8_t* filtered;
};

struct Coded {
  std::uint8_t symbol, extra_bits, extra;
};

struct Shared {
  HuffmanWork huffman;
  std::uint32_t counts[kMaxHuffmanSymbols];
  std::uint8_t lengths[kMaxHuffmanSymbols + 1];
  std::uint32_t table[kMaxHuffmanSymbols];
  Coded coded[kMaxHuffmanSymbols + 1];
  std::uint32_t coded_count;
  std::uint32_t literal_codes;  // HLIT + 257
  std::uint32_t code_counts[kLengthCodes];
  std::uint8_t code_lengths[kLengthCodes];
  std::uint32_t code_table[kLengthCodes];
  std::uint32_t header[sizeof(StripState::header) / 4];
  std::uint32_t header_bits;
  std::uint64_t bits;
  unsigned long long adler_low, adler_high;
  std::uint32_t warp_sums[kPlanWarps];
};

// ---- Adler-32, runs between tiles ---------------------------------------------------------------------

// Combines the Adler-32 of all tiles: adds a tile's low sum to the high sum once per byte after the tile.
__device__ void join_adlers(const Strip& strip, Shared& shared) {
  unsigned long long low = 0;
  unsigned long long high = 0;
  for (std::uint32_t i = threadIdx.x; i < strip.tiles; i += kPlanThreads) {
    const TileState& tile = strip.states[i];
    const std::uint64_t end = (i + std::uint64_t{1}) * kTileBytes;
    const std::uint64_t after = end < strip.bytes ? strip.bytes - end : 0;
    low += tile.adler_low;
    high += (tile.adler_high + tile.adler_low * after) % kAdlerBase;
  }
  low = warp_sum(low);
  high = warp_sum(high);
  if (threadIdx.x % kLanes != 0) return;
  atomicAdd(&shared.adler_low, low);
  atomicAdd(&shared.adler_high, high);
}

// Sets TileState::in with one warp, 32 tiles at a time.
__device__ void reach_in(const Strip& strip) {
  const unsigned lane = threadIdx.x % kLanes;
  std::uint32_t in = 0;  // of the first of the 32 tiles
  for (std::uint32_t first = 0; first < strip.tiles; first += kLanes) {
    const std::uint32_t i = first + lane;
    const std::uint32_t trailing = i < strip.tiles ? strip.states[i].trailing : 0;
    const std::uint32_t gaps = __ballot_sync(kAllLanes, trailing != kTileBytes);
    const std::uint32_t below = gaps & ((1U << lane) - 1);
    const unsigned from = below == 0 ? 0 : 31 - static_cast<unsigned>(__clz(static_cast<int>(below)));
    const std::uint32_t from_trailing = __shfl_sync(kAllLanes, trailing, static_cast<int>(from));
    const std::uint32_t own =
        below == 0 ? in + lane * kTileBytes : (lane - 1 - from) * kTileBytes + from_trailing;
    if (i < strip.tiles) strip.states[i].in = own;
    in = trailing == kTileBytes ? own + kTileBytes : trailing;
    in = __shfl_sync(kAllLanes, in, 31);
  }
}

// Sets TileState::out, from the last tiles to the first.
__device__ void reach_out(const Strip& strip) {
  const unsigned lane = threadIdx.x % kLanes;
  std::uint32_t out = 0;  // of the last of the 32 tiles
  for (std::uint32_t group = (strip.tiles + kLanes - 1) / kLanes; group-- > 0;) {
    const std::uint32_t i = group * kLanes + lane;
    const std::uint32_t leading = i < strip.tiles ? strip.states[i].leading : 0;
    const std::uint32_t gaps = __ballot_sync(kAllLanes, leading != kTileBytes);
    const std::uint32_t above = lane == 31 ? 0 : gaps >> (lane + 1) << (lane + 1);
    const unsigned to = above == 0 ? 31 : trailing_zeros(above);
    const std::uint32_t to_leading = __shfl_sync(kAllLanes, leading, static_cast<int>(to));
    const std::uint32_t own =
        above == 0 ? out + (31 - lane) * kTileBytes : (to - lane - 1) * kTileBytes + to_leading;
    if (i < strip.tiles) strip.states[i].out = own;
    out = leading == kTileBytes ? own + kTileBytes : leading;
    out = __shfl_sync(kAllLanes, out, 0);
  }
}

// Calls use(share, byte) for each run that reaches an end of the tile; write_filtered() could not determine
// its length.
template <class Use>
__device__ void for_each_end_run(const Strip& strip, std::uint32_t number, const Use& use) {
  const TileState& tile = strip.states[number];
  const std::uint32_t begin = number * kTileBytes;
  const std::uint32_t left = strip.bytes - begin;
  const std::uint32_t bytes = left < kTileBytes ? left : kTileBytes;
  const std::uint32_t leading = tile.leading;
  const std::uint32_t trailing = tile.trailing;
  const std::uint32_t in = tile.in;
  const std::uint32_t out = tile.out;
  const bool whole = leading == bytes && bytes == kTileBytes;
  if (leading > 0) {
    const std::uint32_t length = in + leading + (whole ? out : 0);
    if (length >= kMinRun) use(RunShare(length, in, in + leading), strip.filtered[begin]);
  }
  if (trailing > 0 && !whole) {
    const std::uint32_t length = trailing + out;
    if (length >= kMinRun) use(RunShare(length, 0, trailing), strip.filtered[begin + bytes - 1]);
  }
}

// ---- codes --------------------------------------------------------------------------------------------

__device__ void count_symbols(const Strip& strip, Shared& shared) {
  constexpr unsigned kWords = kMaxHuffmanSymbols / 2;
  constexpr unsigned kParts = kPlanThreads / kWords;
  const unsigned word = threadIdx.x % kWords;
  const unsigned part = threadIdx.x / kWords;
  if (part >= kParts) return;
  std::uint32_t even = 0;
  std::uint32_t odd = 0;
#pragma unroll 4
  for (std::uint32_t i = part; i < strip.tiles; i += kParts) {
    const std::uint32_t both = reinterpret_cast<const std::uint32_t*>(strip.states[i].counts)[word];
    even += both & 0xFFFF;
    odd += both >> 16;
  }
  atomicAdd(&shared.counts[2 * word], even);
  atomicAdd(&shared.counts[2 * word + 1], odd);
}

__device__ void count_end_runs(const Strip& strip, Shared& shared) {
  for (std::uint32_t i = threadIdx.x; i < strip.tiles; i += kPlanThreads) {
    for_each_end_run(strip, i, [&](const RunShare& share, std::uint32_t byte) {
      atomicSub(&shared.counts[byte], share.copied);
      if (share.longest > 0) atomicAdd(&shared.counts[length_symbol(kMaxCopy).symbol], share.longest);
      if (share.rest > 0) atomicAdd(&shared.counts[length_symbol(share.rest).symbol], 1U);
    });
  }
}

__device__ void describe_lengths(Shared& shared) {
  unsigned codes = kMaxHuffmanSymbols;
  while (shared.lengths[codes - 1] == 0) --codes;
  shared.literal_codes = codes;
  shared.lengths[codes] = 1;  // of the only distance code
  unsigned count = 0;
  code_lengths(shared.lengths, codes + 1, [&](unsigned symbol, unsigned extra_bits, unsigned extra) {
    shared.coded[count++] = {static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(extra_bits),
                             static_cast<std::uint8_t>(extra)};
    ++shared.code_counts[symbol];
  });
  if (codes < kMaxHuffmanSymbols) shared.lengths[codes] = 0;
  shared.coded_count = count;
}

// Returns the sum of the values of all threads before this one; `total`: of all threads. Barriers: after
// writing `sums`; after all threads have read it.
__device__ std::uint32_t block_sum_before(std::uint32_t value, std::uint32_t (&sums)[kPlanWarps],
                                          std::uint32_t& total) {
  std::uint32_t of_warp = 0;
  std::uint32_t before = sum_before(value, of_warp);
  if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = of_warp;
  __syncthreads();
  total = 0;
  for (unsigned warp = 0; warp < kPlanWarps; ++warp) {
    if (warp < threadIdx.x / kLanes) before += sums[warp];
    total += sums[warp];
  }
  __syncthreads();
  return before;
}

__device__ void write_header(bool last, Shared& shared) {
  const unsigned i = threadIdx.x;
  unsigned written = kLengthCodes;
  while (shared.code_lengths[code_order(written - 1)] == 0) --written;
  constexpr unsigned kFixedBits = 3 + 5 + 5 + 4;
  if (i == 0)
    put_bits(shared.header, 0,
             (last ? 1U : 0U) | 2U << 1 | (shared.literal_codes - 257) << 3 | (written - 4) << 13);
  if (i < written) put_bits(shared.header, kFixedBits + 3 * i, shared.code_lengths[code_order(i)]);
  std::uint32_t bits = 0;
  std::uint32_t value = 0;
  if (i < shared.coded_count) {
    const Coded coded = shared.coded[i];
    const std::uint32_t entry = shared.code_table[coded.symbol];
    bits = (entry & 255) + coded.extra_bits;
    value = entry >> 8 | std::uint32_t{coded.extra} << (entry & 255);
  }
  std::uint32_t total = 0;
  const std::uint32_t before = block_sum_before(bits, shared.warp_sums, total);
  const std::uint32_t first = kFixedBits + 3 * written;
  if (bits > 0) put_bits(shared.header, first + before, value);
  if (i == 0) shared.header_bits = first + total;
}

// ---- bits ---------------------------------------------------------------------------------------------

// Returns the number of bits of a tile's tokens. All lanes of a warp must call it.
__device__ std::uint32_t bits_of_tile(const Strip& strip, std::uint32_t number, const std::uint32_t* table) {
  const unsigned lane = threadIdx.x % kLanes;
  const TileState& tile = strip.states[number];
  std::uint32_t bits = 0;
#pragma unroll
  for (unsigned step = 0; step < (kMaxHuffmanSymbols / 2 + kLanes - 1) / kLanes; ++step) {
    const unsigned word = lane + step * kLanes;
    if (word >= kMaxHuffmanSymbols / 2) break;
    const std::uint32_t both = reinterpret_cast<const std::uint32_t*>(tile.counts)[word];
    const auto add = [&](unsigned symbol, std::uint32_t count) {
      if (count == 0) return;
      std::uint32_t each = table[symbol] & 255;
      // A length's extra bits, and one bit for the distance.
      if (symbol > kEndOfBlock) each += (symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4) + 1;
      bits += count * each;
    };
    add(2 * word, both & 0xFFFF);
    add(2 * word + 1, both >> 16);
  }
  if (lane == 0) {
    for_each_end_run(strip, number, [&](const RunShare& share, std::uint32_t byte) {
      bits += share.longest * copy_bits(table, kMaxCopy);
      if (share.rest > 0) bits += copy_bits(table, share.rest);
      bits -= share.copied * (table[byte] & 255);
    });
  }
  return warp_sum(bits);
}

// Sets TileState::first_bit of all tiles, and the bits of the block. The barrier completes the tiles' sizes.
__device__ void place_tiles(const Strip& strip, Shared& shared) {
  const unsigned lane = threadIdx.x % kLanes;
  for (std::uint32_t i = threadIdx.x / kLanes; i < strip.tiles; i += kPlanWarps) {
    const std::uint32_t bits = bits_of_tile(strip, i, shared.table);
    if (lane == 0) strip.states[i].first_bit = bits;
  }
  __syncthreads();
  if (threadIdx.x >= kLanes) return;
  unsigned long long end = shared.header_bits;
  for (std::uint32_t first = 0; first < strip.tiles; first += kLanes) {
    const std::uint32_t i = first + lane;
    const unsigned long long bits = i < strip.tiles ? strip.states[i].first_bit : 0;
    unsigned long long total = 0;
    const unsigned long long before = sum_before(bits, total);
    if (i < strip.tiles) strip.states[i].first_bit = end + before;
    end += total;
  }
  if (lane == 0) shared.bits = end + (shared.table[kEndOfBlock] & 255);
}

// ---- the kernel ---------------------------------------------------------------------------------------

__device__ void make_codes(const Strip& strip, Shared& shared) {
  block_huffman_lengths(shared.counts, kMaxHuffmanSymbols, kMaxCodeBits, shared.lengths, shared.huffman);
  block_huffman_table(shared.lengths, kMaxHuffmanSymbols, shared.table);
  __syncthreads();
  if (threadIdx.x == 0) describe_lengths(shared);
  __syncthreads();
  block_huffman_lengths(shared.code_counts, kLengthCodes, kMaxLengthCodeBits, shared.code_lengths,
                        shared.huffman);
  block_huffman_table(shared.code_lengths, kLengthCodes, shared.code_table);
  __syncthreads();
  write_header(strip.last, shared);
  __syncthreads();
}

__device__ void clear(Shared& shared) {
  for (unsigned i = threadIdx.x; i < kMaxHuffmanSymbols; i += kPlanThreads) shared.counts[i] = 0;
  if (threadIdx.x < kLengthCodes) shared.code_counts[threadIdx.x] = 0;
  for (unsigned i = threadIdx.x; i < sizeof(shared.header) / 4; i += kPlanThreads) shared.header[i] = 0;
  if (threadIdx.x != 0) return;
  shared.adler_low = shared.adler_high = 0;
  shared.header_bits = 0;
  shared.bits = 0;
}

// One block of threads per strip, of any length. Shared memory: Shared, about 10 KB. Barriers: after clearing
// it; after the tiles' counts, `in` and `out`; after all counts; in make_codes() and place_tiles(); before
// the results.
__global__ __launch_bounds__(kPlanThreads) void plan_kernel(Group group) {
  __shared__ Shared shared;
  const PngImage& picture = image_containing(group, &PngImage::first_strip, blockIdx.x);
  Strip strip{};
  strip.picture = &picture;
  strip.number = blockIdx.x - picture.first_strip;
  strip.bytes = picture.bytes_of(strip.number);
  strip.tiles = picture.tiles_of(strip.number);
  strip.last = strip.number + 1 == picture.strips();
  strip.states = group.tile_states + picture.first_tile + strip.number * picture.tiles_per_strip;
  strip.filtered = group.filtered + picture.filtered + strip.number * picture.strip_pitch;
  StripState& state = group.strip_states[blockIdx.x];
  clear(shared);
  __syncthreads();
  join_adlers(strip, shared);
  const bool tried = match_rule(strip.bytes, 0) == MatchRule::always;
  if (!tried) {
    count_symbols(strip, shared);
    if (threadIdx.x / kLanes == kPlanWarps - 1) reach_in(strip);
    if (threadIdx.x / kLanes == kPlanWarps - 2) reach_out(strip);
    __syncthreads();
    count_end_runs(strip, shared);
    if (threadIdx.x == 0) shared.counts[kEndOfBlock] = 1;
    __syncthreads();
    make_codes(strip, shared);
    place_tiles(strip, shared);
    for (unsigned i = threadIdx.x; i < kMaxHuffmanSymbols; i += kPlanThreads)
      state.table[i] = shared.table[i];
    for (unsigned i = kMinCopy + threadIdx.x; i <= kMaxCopy; i += kPlanThreads)
      state.copies[i] = copy_entry(shared.table, i);
    for (unsigned i = threadIdx.x; i < sizeof(shared.header) / 4; i += kPlanThreads)
      state.header[i] = shared.header[i];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto low = (1 + shared.adler_low) % kAdlerBase;
  const auto high = (strip.bytes + shared.adler_high) % kAdlerBase;
  state.adler = static_cast<std::uint32_t>(high << 16 | low);
  state.header_bits = shared.header_bits;
  state.bits = shared.bits;
  state.matches = tried ? MatchRule::always : match_rule(strip.bytes, block_bytes(shared.bits, false));
}

}  // namespace

CudaStatus plan_strips(const Group& group, CUstream_st* stream) {
  plan_kernel<<<group.strips, kPlanThreads, 0, stream>>>(group);
  return cudaGetLastError();
}

}  // namespace imgpipe::png_strips

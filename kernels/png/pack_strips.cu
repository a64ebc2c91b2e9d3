// Places strips in the output and writes their bytes.
#include <cuda_runtime.h>

#include "images/codecs/png/strip_rule.h"
#include "kernels/png/put_bits.cuh"
#include "kernels/png/steps.h"
#include "kernels/png/tile.cuh"

namespace imgpipe::png_strips {
namespace {

// ---- placement ------------------------------------------------------------------------------------------

constexpr unsigned kPlaceThreads = 128;

struct StripOutput {
  StripKind kind;
  std::uint64_t bytes;
};

__device__ StripOutput output_of_strip(const Group& group, const PngImage& picture, std::uint32_t number) {
  const StripState& state = group.strip_states[picture.first_strip + number];
  const std::uint32_t bytes = picture.bytes_of(number);
  bool filtered = state.matches == MatchRule::always;
  if (state.matches == MatchRule::by_repeats) {
    const StripWindows& windows = group.windows[picture.first_strip + number];
    const std::uint64_t block = block_bytes(state.bits, false);
    filtered =
        has_enough_repeats(windows.of[0], bytes, block) || has_enough_repeats(windows.of[1], bytes, block);
  }
  if (filtered) return {StripKind::filtered, bytes};
  const std::uint64_t huffman = block_bytes(state.bits, number + 1 == picture.strips());
  const std::uint64_t stored = stored_bytes(bytes);
  if (stored <= huffman) return {StripKind::stored, stored};
  return {StripKind::huffman, huffman};
}

// One block of threads per strip; the strip's offset is the sum of the sizes of all strips before it. The
// block then clears each tile's first word in the output, which two tiles may share, and writes the header.
// Shared memory: the offset. Barriers: after clearing the offset; after adding all sizes.
__global__ __launch_bounds__(kPlaceThreads) void place_kernel(Group group) {
  __shared__ unsigned long long position;
  if (threadIdx.x == 0) position = 0;
  __syncthreads();
  unsigned long long before = 0;
  for (std::uint32_t i = threadIdx.x; i < blockIdx.x; i += kPlaceThreads) {
    const PngImage& picture = image_containing(group, &PngImage::first_strip, i);
    before += rounded_up<std::uint64_t>(output_of_strip(group, picture, i - picture.first_strip).bytes,
                                        kStripAlignment);
  }
  before = warp_sum(before);
  if (threadIdx.x % kLanes == 0) atomicAdd(&position, before);
  __syncthreads();
  const PngImage& picture = image_containing(group, &PngImage::first_strip, blockIdx.x);
  const std::uint32_t number = blockIdx.x - picture.first_strip;
  const StripOutput made = output_of_strip(group, picture, number);
  StripState& state = group.strip_states[blockIdx.x];
  if (threadIdx.x == 0) {
    state.kind = made.kind;
    state.position = position;
    group.results[blockIdx.x] = {position, made.bytes, state.adler,
                                 made.kind == StripKind::filtered ? 1U : 0U};
  }
  if (made.kind != StripKind::huffman) return;
  auto* words = reinterpret_cast<std::uint32_t*>(group.output + position);
  // The word at which the header ends is also the first tile's first word; it may hold no bits of the header.
  for (unsigned i = threadIdx.x; i <= state.header_bits / 32; i += kPlaceThreads) words[i] = state.header[i];
  const TileState* tiles = group.tile_states + picture.first_tile + number * picture.tiles_per_strip;
  for (std::uint32_t i = threadIdx.x; i < picture.tiles_of(number); i += kPlaceThreads) {
    const std::uint64_t word = tiles[i].first_bit / 32;
    if (word > state.header_bits / 32) words[word] = 0;
  }
}

// ---- packing --------------------------------------------------------------------------------------------

// Capacity for a tile's bits, up to 31 bits before them in their first word, the end of the strip, and a
// spare word.
constexpr unsigned kPackWords = (kTileBytes * kMaxCodeBits + 31 + kMaxCodeBits + 3 + 7 + 32) / 32 + 2;

struct Shared {
  std::uint32_t table[kMaxHuffmanSymbols];
  std::uint8_t bits[256];              // code length of each literal
  std::uint32_t copies[kMaxCopy + 1];  // copy_entry(), if there are runs
  WarpEnds ends[kTileWarps];
  std::uint32_t warp_bits[kTileWarps];
  std::uint32_t words[kPackWords];
};

// Appends codes to words that all threads of a block write concurrently, each from a different bit on.
class WordPacker {
 public:
  __device__ WordPacker(std::uint32_t* words, std::uint32_t at)
      : words_(words + at / 32), pending_bits_(at % 32) {}
  // Appends the codes of two table entries, together at most 32 bits; their low bits are the code lengths.
  __device__ void put(std::uint32_t first, std::uint32_t second) {
    const std::uint32_t code = first >> 8 | __funnelshift_l(0, second >> 8, first);
    pending_word_ |= __funnelshift_l(0, code, pending_bits_);
    const std::uint32_t beyond = __funnelshift_l(code, 0, pending_bits_);
    pending_bits_ = (pending_bits_ + first + second) & 63;
    // The only branch is the one around the store.
    const bool full = pending_bits_ >= 32;
    if (full) atomicOr(words_, pending_word_);
    words_ += full ? 1 : 0;
    pending_word_ = full ? beyond : pending_word_;
    pending_bits_ &= 31;
  }
  __device__ void finish() const {
    if (pending_word_ != 0) atomicOr(words_, pending_word_);
  }

 private:
  std::uint32_t* words_;
  std::uint32_t pending_bits_;  // bits of pending_word_
  std::uint32_t pending_word_ = 0;
};

// Returns the total code length of a window's literals: all bytes, or, unless All, those set in `literals`.
template <bool All>
__device__ inline std::uint32_t bits_of_literals(const std::uint32_t (&window)[8], std::uint32_t literals,
                                                 const std::uint8_t* bits) {
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kWindowBytes; ++i) {
    const std::uint32_t each = bits[window[i / 4] >> 8 * (i % 4) & 255];
    sum += All || (literals & 1U << i) != 0 ? each : 0;
  }
  return sum;
}

// Returns the entry of byte i, or 0 if it is not a literal.
template <bool All>
__device__ inline std::uint32_t entry_of(const std::uint32_t (&window)[8], unsigned i, std::uint32_t literals,
                                         const std::uint32_t* table) {
  const std::uint32_t entry = table[window[i / 4] >> 8 * (i % 4) & 255];
  return All || (literals & 1U << i) != 0 ? entry : 0;
}

template <bool All>
__device__ inline void pack_window(const std::uint32_t (&window)[8], std::uint32_t literals,
                                   const WindowCopies& copies, const Shared& shared, WordPacker& packer) {
  std::uint32_t next_copy = copies.lengths[0];
  std::uint32_t then = copies.lengths[1] | std::uint32_t{copies.lengths[2]} << 16;
#pragma unroll
  for (unsigned i = 0; i < kWindowBytes; i += 2) {
    const std::uint32_t first = entry_of<All>(window, i, literals, shared.table);
    const std::uint32_t second = entry_of<All>(window, i + 1, literals, shared.table);
    if (All || (copies.starts & 3U << i) == 0) {
      packer.put(first, second);
      continue;
    }
    // A copy has at least three bytes: if either of the two begins it, the second is not a literal.
    packer.put(first, 0);
    packer.put(shared.copies[next_copy], 0);
    next_copy = then & 0xFFFF;
    then >>= 16;
  }
}

// Returns a window's copies. All threads must call it; its barrier also completes the rest of `shared`.
__device__ inline WindowCopies copies_of_window(const Tile& tile, const TileState& state,
                                                const std::uint8_t* from, const std::uint32_t (&window)[8],
                                                std::uint32_t valid, Shared& shared) {
  const unsigned warp = threadIdx.x / kLanes;
  const bool has_runs = (state.run_warps >> warp & 1) != 0;
  std::uint32_t equal = 0;
  if (has_runs) {
    const bool first = tile.begin == 0 && threadIdx.x == 0;
    const std::uint32_t before = valid > 0 && !first ? __ldg(from - 1) : 0;
    equal = equal_bytes(window, before) & low_bits(valid) & ~(first ? 1U : 0U);
  }
  const WarpRuns runs(equal);
  // A warp whose bit is not set has no bytes of a run, so its ends do not matter.
  const WarpEnds ends = has_runs ? runs.ends() : WarpEnds{0, 0};
  if (threadIdx.x % kLanes == 0) shared.ends[warp] = ends;
  __syncthreads();
  WindowCopies copies;
  if (has_runs) {
    const Reach reach = runs.reach(reach_of_warp(shared.ends, {state.in, state.out}));
    for_each_run(equal, reach.in, reach.out, [&copies](const Run& run) { copies.add(run); });
  }
  return copies;
}

__device__ inline void write_words(const std::uint32_t* from, std::uint32_t* to, std::uint32_t words,
                                   bool shares_last) {
  for (unsigned i = threadIdx.x; i < words; i += kTileThreads) {
    if (i == 0 || (i + 1 == words && shares_last)) {
      if (from[i] != 0) atomicOr(to + i, from[i]);
    } else {
      to[i] = from[i];
    }
  }
}

__device__ inline void pack_tile(const Group& group, const Tile& tile, const StripState& strip,
                                 Shared& shared) {
  const TileState& state = group.tile_states[blockIdx.x];
  const bool ends_strip = tile.last_of_strip();
  const bool last = tile.strip + 1 == tile.picture.strips();
  const std::uint64_t first_bit = state.first_bit;
  const std::uint64_t end_bit =
      ends_strip ? 8 * block_bytes(strip.bits, last) : group.tile_states[blockIdx.x + 1].first_bit;
  const std::uint64_t first_word = first_bit / 32;
  const auto words = static_cast<std::uint32_t>((end_bit + 31) / 32 - first_word);
  for (unsigned i = threadIdx.x; i < kMaxHuffmanSymbols; i += kTileThreads) {
    const std::uint32_t entry = strip.table[i];
    shared.table[i] = entry;
    if (i < 256) shared.bits[i] = static_cast<std::uint8_t>(entry & 255);
  }
  if (state.run_warps != 0) {
    for (unsigned i = kMinCopy + threadIdx.x; i <= kMaxCopy; i += kTileThreads)
      shared.copies[i] = strip.copies[i];
  }
  for (unsigned i = threadIdx.x; i < words; i += kTileThreads) shared.words[i] = 0;
  const std::uint32_t at = threadIdx.x * kWindowBytes;
  const std::uint32_t valid = at >= tile.bytes ? 0 : min(tile.bytes - at, kWindowBytes);
  const std::uint8_t* from = tile.filtered(group) + tile.begin + at;
  std::uint32_t window[8]{};
  if (valid > 0) {
    const uint4 low = __ldg(reinterpret_cast<const uint4*>(from));
    const uint4 high = __ldg(reinterpret_cast<const uint4*>(from) + 1);
    window[0] = low.x, window[1] = low.y, window[2] = low.z, window[3] = low.w;
    window[4] = high.x, window[5] = high.y, window[6] = high.z, window[7] = high.w;
  }
  const WindowCopies copies = copies_of_window(tile, state, from, window, valid, shared);
  const std::uint32_t literals = low_bits(valid) & ~copies.copied;
  const bool all = __all_sync(kAllLanes, literals == ~0U) != 0;
  std::uint32_t bits = all ? bits_of_literals<true>(window, literals, shared.bits)
                           : bits_of_literals<false>(window, literals, shared.bits);
#pragma unroll
  for (unsigned i = 0; i < 3; ++i) {
    if (i < copies.count) bits += shared.copies[copies.lengths[i]] & 255;
  }
  __syncwarp();
  std::uint32_t of_warp = 0;
  std::uint32_t bit = static_cast<std::uint32_t>(first_bit % 32) + sum_before(bits, of_warp);
  if (threadIdx.x % kLanes == 0) shared.warp_bits[threadIdx.x / kLanes] = of_warp;
  __syncthreads();
  for (unsigned warp = 0; warp < threadIdx.x / kLanes; ++warp) bit += shared.warp_bits[warp];
  WordPacker packer(shared.words, bit);
  if (all) {
    pack_window<true>(window, literals, copies, shared, packer);
  } else {
    pack_window<false>(window, literals, copies, shared, packer);
  }
  packer.finish();
  if (ends_strip && threadIdx.x == 0) {
    const std::uint32_t end = shared.table[kEndOfBlock];
    put_bits(shared.words, static_cast<std::uint32_t>(strip.bits - 32 * first_word) - (end & 255), end >> 8);
    // An empty stored block ends with FF FF, after zeros.
    if (!last) put_bits(shared.words, static_cast<std::uint32_t>(end_bit - 32 * first_word) - 16, 0xFFFF);
  }
  __syncthreads();
  // The first word is zero or holds the header's end. The last word is also the next tile's first, unless it
  // is full or ends the strip.
  write_words(shared.words, reinterpret_cast<std::uint32_t*>(group.output + strip.position) + first_word,
              words, !ends_strip && end_bit % 32 != 0);
}

// Stores a tile byte by byte: strips have no useful alignment, but adjacent threads write adjacent bytes.
__device__ inline void store_tile(const Group& group, const Tile& tile, const StripState& strip) {
  const std::uint8_t* from = tile.filtered(group);
  std::uint8_t* to = group.output + strip.position;
  const bool last = tile.strip + 1 == tile.picture.strips();
  for (std::uint32_t i = tile.begin + threadIdx.x; i < tile.begin + tile.bytes; i += kTileThreads) {
    const auto block = i / static_cast<std::uint32_t>(kMaxStoredBytes);
    const std::uint32_t in_block = i - block * static_cast<std::uint32_t>(kMaxStoredBytes);
    std::uint8_t* at = to + i + kStoredHeader * (block + std::uint64_t{1});
    *at = from[i];
    if (in_block != 0) continue;
    const std::uint32_t left = tile.strip_bytes - i;
    const bool ends = left <= kMaxStoredBytes;
    const std::uint32_t length = ends ? left : static_cast<std::uint32_t>(kMaxStoredBytes);
    at[-5] = last && ends ? 1 : 0;
    at[-4] = static_cast<std::uint8_t>(length);
    at[-3] = static_cast<std::uint8_t>(length >> 8);
    at[-2] = static_cast<std::uint8_t>(~length);
    at[-1] = static_cast<std::uint8_t>(~length >> 8);
  }
}

__device__ inline void copy_tile(const Group& group, const Tile& tile, const StripState& strip) {
  const auto* from = reinterpret_cast<const uint4*>(tile.filtered(group) + tile.begin);
  auto* to = reinterpret_cast<uint4*>(group.output + strip.position + tile.begin);
  static_assert(kStripAlignment == sizeof(uint4));
  for (std::uint32_t i = threadIdx.x; i < (tile.bytes + 15) / 16; i += kTileThreads) to[i] = from[i];
}

// One block of threads per tile, one thread per window of 32 bytes. Shared memory: Shared, 33 KB. Barriers of
// pack_tile(): after loading tables and clearing words (in copies_of_window()); after the bit counts; after
// packing.
__global__ __launch_bounds__(kTileThreads, 2) void pack_kernel(Group group) {
  __shared__ __align__(16) Shared shared;
  const Tile tile(group);
  const StripState& strip = group.strip_states[tile.picture.first_strip + tile.strip];
  switch (strip.kind) {
    case StripKind::huffman:
      return pack_tile(group, tile, strip, shared);
    case StripKind::stored:
      return store_tile(group, tile, strip);
    case StripKind::filtered:
      return copy_tile(group, tile, strip);
  }
}

}  // namespace

CudaStatus place_strips(const Group& group, CUstream_st* stream) {
  place_kernel<<<group.strips, kPlaceThreads, 0, stream>>>(group);
  return cudaGetLastError();
}

CudaStatus pack_strips(const Group& group, CUstream_st* stream) {
  pack_kernel<<<group.tiles, kTileThreads, 0, stream>>>(group);
  return cudaGetLastError();
}

}  // namespace imgpipe::png_strips

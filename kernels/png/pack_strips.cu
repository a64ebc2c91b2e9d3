// Where each strip lies in the output, and its bytes.
#include <cuda_runtime.h>

#include "images/codecs/png/strip_rule.h"
#include "kernels/png/put_bits.cuh"
#include "kernels/png/steps.h"
#include "kernels/png/tile.cuh"

namespace imgpipe::png_strips {
namespace {

// ---- places ---------------------------------------------------------------------------------------------

constexpr unsigned kPlaceThreads = 128;

struct Made {
  StripKind kind;
  std::uint64_t bytes;
};

// What the rule makes of a strip.
__device__ Made made_of(const Group& group, const Picture& picture, std::uint32_t number) {
  const StripState& state = group.strip_states[picture.first_strip + number];
  const std::uint32_t bytes = picture.bytes_of(number);
  bool filtered = state.matches == MatchRule::always;
  if (state.matches == MatchRule::by_repeats) {
    const StripWindows& windows = group.windows[picture.first_strip + number];
    const std::uint64_t block = block_bytes(state.bits, false);
    filtered = repeats_suffice(windows.of[0], bytes, block) || repeats_suffice(windows.of[1], bytes, block);
  }
  if (filtered) return {StripKind::filtered, bytes};
  const std::uint64_t huffman = block_bytes(state.bits, number + 1 == picture.strips());
  const std::uint64_t stored = stored_bytes(bytes);
  if (stored <= huffman) return {StripKind::stored, stored};
  return {StripKind::huffman, huffman};
}

// A block of threads a strip: all strips before it give its place. Then the words of the output that two tiles
// share, the first of each, are made zero; with the header before the first of all.
__global__ __launch_bounds__(kPlaceThreads) void place_kernel(Group group) {
  __shared__ unsigned long long place;
  if (threadIdx.x == 0) place = 0;
  __syncthreads();
  unsigned long long before = 0;
  for (std::uint32_t i = threadIdx.x; i < blockIdx.x; i += kPlaceThreads) {
    const Picture& picture = picture_of(group, &Picture::first_strip, i);
    before += rounded_up(made_of(group, picture, i - picture.first_strip).bytes, kStripAlignment);
  }
  before = warp_sum(before);
  if (threadIdx.x % kLanes == 0) atomicAdd(&place, before);
  __syncthreads();
  const Picture& picture = picture_of(group, &Picture::first_strip, blockIdx.x);
  const std::uint32_t number = blockIdx.x - picture.first_strip;
  const Made made = made_of(group, picture, number);
  StripState& state = group.strip_states[blockIdx.x];
  if (threadIdx.x == 0) {
    state.kind = made.kind;
    state.place = place;
    group.results[blockIdx.x] = {place, made.bytes, state.adler, made.kind == StripKind::filtered ? 1U : 0U};
  }
  if (made.kind != StripKind::huffman) return;
  auto* words = reinterpret_cast<std::uint32_t*>(group.output + place);
  // The header's last word, perhaps without a bit of it, is the first tile's first.
  for (unsigned i = threadIdx.x; i <= state.header_bits / 32; i += kPlaceThreads) words[i] = state.header[i];
  const TileState* tiles = group.tile_states + picture.first_tile + number * picture.tiles_a_strip;
  for (std::uint32_t i = threadIdx.x; i < picture.tiles_of(number); i += kPlaceThreads) {
    const std::uint64_t word = tiles[i].first_bit / 32;
    if (word > state.header_bits / 32) words[word] = 0;
  }
}

// ---- packing --------------------------------------------------------------------------------------------

// A tile's bits, what is before them in their first word, the end of the strip, and a word for luck.
constexpr unsigned kPackWords = (kTileBytes * kMostCodeBits + 31 + kMostCodeBits + 3 + 7 + 32) / 32 + 2;

struct Shared {
  std::uint32_t table[kMostHuffmanSymbols];
  WarpEnds ends[kTileWarps];
  std::uint32_t warp_bits[kTileWarps];
  std::uint32_t words[kPackWords];
};

// Words with the bits in hand.
class WordPacker {
 public:
  __device__ WordPacker(std::uint32_t* words, std::uint32_t at) : words_(words + at / 32), held_(at % 32) {}
  // At most 32 bits.
  __device__ void put(std::uint32_t value, std::uint32_t bits) {
    hand_ |= static_cast<unsigned long long>(value) << held_;
    held_ += bits;
    if (held_ < 32) return;
    atomicOr(words_, static_cast<std::uint32_t>(hand_));
    ++words_;
    hand_ >>= 32;
    held_ -= 32;
  }
  __device__ void finish() const {
    if (hand_ != 0) atomicOr(words_, static_cast<std::uint32_t>(hand_));
  }

 private:
  std::uint32_t* words_;
  std::uint32_t held_;
  unsigned long long hand_ = 0;
};

// The tokens that begin in a window.
class WindowPacker {
 public:
  __device__ WindowPacker(const std::uint32_t (&window)[8], const std::uint32_t* table, std::uint32_t valid,
                          std::uint32_t equal, const Reach& reach)
      : table_(table) {
    for_each_run(equal, reach.in, reach.out, [this](const Run& run) { copies_.add(run); });
    literals_ = low_bits(valid) & ~copies_.copied;
#pragma unroll
    for (unsigned i = 0; i < kWindowBytes; ++i) {
      const std::uint32_t entry = table[window[i / 4] >> 8 * (i % 4) & 255];
      entries_[i] = (literals_ >> i & 1) != 0 ? entry : 0;
      bits_ += entries_[i] & 255;
    }
    for (unsigned i = 0; i < copies_.count; ++i) bits_ += copy_bits(table, length(i));
  }
  [[nodiscard]] __device__ std::uint32_t bits() const { return bits_; }

  __device__ void pack(WordPacker packer) const {
    if (copies_.starts == 0) {
#pragma unroll
      for (unsigned i = 0; i < kWindowBytes; i += 2) {
        const std::uint32_t first = entries_[i];
        const std::uint32_t second = entries_[i + 1];
        packer.put(first >> 8 | second >> 8 << (first & 255), (first & 255) + (second & 255));
      }
    } else {
      unsigned copy = 0;
#pragma unroll
      for (unsigned i = 0; i < kWindowBytes; ++i) {
        const std::uint32_t entry =
            (copies_.starts >> i & 1) != 0 ? copy_entry(table_, length(copy++)) : entries_[i];
        packer.put(entry >> 8, entry & 255);
      }
    }
    packer.finish();
  }

 private:
  [[nodiscard]] __device__ std::uint32_t length(unsigned i) const {
    return i == 0 ? copies_.lengths[0] : i == 1 ? copies_.lengths[1] : copies_.lengths[2];
  }

  const std::uint32_t* table_;
  WindowCopies copies_;
  std::uint32_t literals_ = 0;
  std::uint32_t entries_[kWindowBytes];
  std::uint32_t bits_ = 0;
};

__device__ void pack_tile(const Group& group, const Tile& tile, const StripState& strip, Shared& shared) {
  const TileState& state = group.tile_states[blockIdx.x];
  const bool ends_strip = tile.last_of_strip();
  const bool last = tile.strip + 1 == tile.picture.strips();
  const std::uint64_t first_bit = state.first_bit;
  const std::uint64_t end_bit = ends_strip ? 8 * block_bytes(strip.bits, last) : group.tile_states[blockIdx.x + 1].first_bit;
  const std::uint64_t first_word = first_bit / 32;
  const auto words = static_cast<std::uint32_t>((end_bit + 31) / 32 - first_word);
  for (unsigned i = threadIdx.x; i < kMostHuffmanSymbols; i += kTileThreads) shared.table[i] = strip.table[i];
  for (unsigned i = threadIdx.x; i < words; i += kTileThreads) shared.words[i] = 0;
  const std::uint32_t at = threadIdx.x * kWindowBytes;
  const std::uint32_t valid = at >= tile.bytes ? 0 : min(tile.bytes - at, kWindowBytes);
  const std::uint8_t* from = tile.filtered(group) + tile.begin + at;
  std::uint32_t window[8]{};
  std::uint32_t before = 0;
  if (valid > 0) {
    const uint4 low = __ldg(reinterpret_cast<const uint4*>(from));
    const uint4 high = __ldg(reinterpret_cast<const uint4*>(from) + 1);
    window[0] = low.x, window[1] = low.y, window[2] = low.z, window[3] = low.w;
    window[4] = high.x, window[5] = high.y, window[6] = high.z, window[7] = high.w;
    if (tile.begin + at > 0) before = __ldg(from - 1);
  }
  std::uint32_t equal = equal_bytes(window, before) & low_bits(valid);
  if (tile.begin + at == 0) equal &= ~1U;
  // The barrier in it is that of the table and the words too.
  const Reach reach = reach_of_windows(equal, state.in, state.out, shared.ends);
  const WindowPacker tokens(window, shared.table, valid, equal, reach);
  std::uint32_t of_warp = 0;
  std::uint32_t bit = sum_before(tokens.bits(), of_warp);
  if (threadIdx.x % kLanes == 0) shared.warp_bits[threadIdx.x / kLanes] = of_warp;
  __syncthreads();
  for (unsigned warp = 0; warp < threadIdx.x / kLanes; ++warp) bit += shared.warp_bits[warp];
  tokens.pack(WordPacker(shared.words, static_cast<std::uint32_t>(first_bit % 32) + bit));
  if (ends_strip && threadIdx.x == 0) {
    const std::uint32_t end = shared.table[kEndOfBlock];
    put_bits(shared.words, static_cast<std::uint32_t>(strip.bits - 32 * first_word) - (end & 255), end >> 8);
    // An empty stored block: FF FF behind zeros.
    if (!last) put_bits(shared.words, static_cast<std::uint32_t>(end_bit - 32 * first_word) - 16, 0xFFFF);
  }
  __syncthreads();
  auto* to = reinterpret_cast<std::uint32_t*>(group.output + strip.place) + first_word;
  for (unsigned i = threadIdx.x; i < words; i += kTileThreads) {
    // The first word is zero, or holds the header's end; the last one is the next tile's first, which is zero,
    // unless it is full or the strip's last.
    const bool shared_word = i == 0 || (i + 1 == words && !ends_strip && end_bit % 32 != 0);
    if (shared_word) {
      if (shared.words[i] != 0) atomicOr(to + i, shared.words[i]);
    } else {
      to[i] = shared.words[i];
    }
  }
}

// Byte by byte: neighbouring threads have neighbouring bytes, wherever they lie.
__device__ void store_tile(const Group& group, const Tile& tile, const StripState& strip) {
  const std::uint8_t* from = tile.filtered(group);
  std::uint8_t* to = group.output + strip.place;
  const bool last = tile.strip + 1 == tile.picture.strips();
  for (std::uint32_t i = tile.begin + threadIdx.x; i < tile.begin + tile.bytes; i += kTileThreads) {
    const auto block = i / static_cast<std::uint32_t>(kMostStored);
    const std::uint32_t in_block = i - block * static_cast<std::uint32_t>(kMostStored);
    std::uint8_t* at = to + i + kStoredHeader * (block + std::uint64_t{1});
    *at = from[i];
    if (in_block != 0) continue;
    const std::uint32_t left = tile.strip_bytes - i;
    const bool ends = left <= kMostStored;
    const std::uint32_t length = ends ? left : static_cast<std::uint32_t>(kMostStored);
    at[-5] = last && ends ? 1 : 0;
    at[-4] = static_cast<std::uint8_t>(length);
    at[-3] = static_cast<std::uint8_t>(length >> 8);
    at[-2] = static_cast<std::uint8_t>(~length);
    at[-1] = static_cast<std::uint8_t>(~length >> 8);
  }
}

__device__ void copy_tile(const Group& group, const Tile& tile, const StripState& strip) {
  const auto* from = reinterpret_cast<const uint4*>(tile.filtered(group) + tile.begin);
  auto* to = reinterpret_cast<uint4*>(group.output + strip.place + tile.begin);
  static_assert(kStripAlignment == sizeof(uint4));
  for (std::uint32_t i = threadIdx.x; i < (tile.bytes + 15) / 16; i += kTileThreads) to[i] = from[i];
}

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

// Huffman decoding of a group of JPEGs. Everything that one thread does: entropy_steps.h.
//
//   tables      the tables of all images, from their code lengths
//   synchronise a tile a block: each thread decodes its subsequence from a guess, then again from where the
//               one before ends, until nothing changes
//   bridge      a tile a thread: goes on from the end of the tile before until in step
//   join        an image a block: what is still not in step, one after the other; sums over the tiles
//   write       a tile a block: coefficients; and whether all that is consistent and whole
//
// Nothing that comes before `write` is relied on: it sees that each thread ends at the block, bit and number
// where the next one begins. So its result is that of one decoder from the segment's start on.
#include <cuda_runtime.h>

#include "images/codecs/jpeg/baseline_scan.h"
#include "kernels/jpeg/entropy_decoding.h"
#include "kernels/jpeg/entropy_steps.h"

namespace imgpipe {
namespace {

using namespace entropy;

constexpr std::uint32_t kAllLanes = 0xFFFFFFFFU;
constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kJoinThreads = 256;
constexpr std::uint32_t kDamaged = 1;

// The first of `count` ends that is beyond `index`.
__device__ std::uint32_t find_owner(const std::uint32_t* ends, std::uint32_t count, std::uint32_t index) {
  std::uint32_t low = 0;
  for (std::uint32_t high = count; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (__ldg(ends + middle) <= index) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Tables of an image to shared memory. All threads of the block; ends in a barrier.
__device__ Tables load_tables(const GroupView& view, const DeviceImage& image, SymbolTable* shared) {
  const auto* from = reinterpret_cast<const uint4*>(view.tables + image.first_table);
  auto* to = reinterpret_cast<uint4*>(shared);
  const std::uint32_t vectors =
      image.tables * static_cast<std::uint32_t>(sizeof(SymbolTable) / sizeof(uint4));
  for (std::uint32_t i = threadIdx.x; i < vectors; i += blockDim.x) to[i] = __ldg(from + i);
  __syncthreads();
  return {shared, view.codes + image.first_table};
}

__device__ SymbolTable* shared_tables() {
  extern __shared__ uint4 memory[];
  return reinterpret_cast<SymbolTable*>(memory);
}

// ---- tables -----------------------------------------------------------------------------------------------

__global__ void make_tables(GroupView view) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < view.task_count) view.verdicts[thread] = kInOrder;
  if (blockIdx.x >= view.table_count) return;
  auto* entries = reinterpret_cast<std::uint16_t*>(view.tables + blockIdx.x);
  for (std::uint32_t i = threadIdx.x; i < sizeof(SymbolTable) / sizeof(std::uint16_t); i += blockDim.x)
    entries[i] = table_entry(view.codes[blockIdx.x], i);
}

// ---- synchronise ------------------------------------------------------------------------------------------

// Of a warp: the sum over the lanes from the last start of a segment, or from lane 0, to each.
__device__ Sums scan_warp(Sums sums, bool& starts) {
  const std::uint32_t lane = threadIdx.x % kWarpLanes;
  for (std::uint32_t step = 1; step < kWarpLanes; step *= 2) {
    Sums before;
    before.blocks = __shfl_up_sync(kAllLanes, sums.blocks, step);
    for (int c = 0; c < 3; ++c) before.dc[c] = __shfl_up_sync(kAllLanes, sums.dc[c], step);
    const bool started = __shfl_up_sync(kAllLanes, static_cast<int>(starts), step) != 0;
    if (lane < step) continue;
    if (!starts) add(sums, before);
    starts = starts || started;
  }
  return sums;
}

// The same of a block of threads. `starts`: then whether one of the threads up to this one had a start.
// `totals`, `any`: of kTileSubsequences / kWarpLanes warps, in shared memory.
__device__ Sums scan_tile(Sums sums, bool& starts, Sums* totals, bool* any) {
  const std::uint32_t lane = threadIdx.x % kWarpLanes, warp = threadIdx.x / kWarpLanes;
  sums = scan_warp(sums, starts);
  if (lane == kWarpLanes - 1) {
    totals[warp] = sums;
    any[warp] = starts;
  }
  __syncthreads();
  for (std::uint32_t i = warp; i > 0 && !starts; --i) {
    add(sums, totals[i - 1]);
    starts = any[i - 1];
  }
  return sums;
}

constexpr std::uint32_t kTileWarps = kTileSubsequences / kWarpLanes;

__global__ void __launch_bounds__(kTileSubsequences) synchronise(GroupView view) {
  __shared__ PackedState exits[kTileSubsequences];
  __shared__ Sums warp_sums[kTileWarps];
  __shared__ bool warp_starts[kTileWarps];
  const DeviceImage image = view.images[find_owner(view.tile_ends, view.image_count, blockIdx.x)];
  const std::uint32_t index = (blockIdx.x - image.first_tile) * kTileSubsequences + threadIdx.x;
  const bool mine = index < image.subsequences;
  const Tables tables = load_tables(view, image, shared_tables());
  const Subsequence subsequence = find_subsequence(view, image, mine ? index : image.subsequences - 1);
  const bool guesses = mine && threadIdx.x > 0 && !subsequence.starts_segment;
  Record record{};
  Sums sums{};
  if (mine) decode_subsequence(image, tables, subsequence, 0, record, sums);
  exits[threadIdx.x] = record.exit;
  __syncthreads();
  // Round i leaves the first i threads as they are for good, so there is an end.
  for (;;) {
    const PackedState entry = guesses ? exits[threadIdx.x - 1] : record.entry;
    const bool again = entry != record.entry;
    if (__syncthreads_or(static_cast<int>(again)) == 0) break;
    if (again) {
      decode_subsequence(image, tables, subsequence, entry, record, sums);
      exits[threadIdx.x] = record.exit;
    }
    __syncthreads();
  }
  if (mine) {
    view.records[image.first_subsequence + index] = record;
    view.sums[image.first_subsequence + index] = sums;
  }
  bool starts = mine && subsequence.starts_segment;
  sums = scan_tile(sums, starts, warp_sums, warp_starts);
  // Threads without a subsequence come last and add nothing.
  if (threadIdx.x == kTileSubsequences - 1) {
    view.tile_sums[blockIdx.x] = sums;
    view.tile_exits[blockIdx.x] = {exits[mine ? threadIdx.x : 0], starts ? 1U : 0U};
  }
}

// ---- bridge -----------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kBridgeThreads) bridge(GroupView view) {
  const std::uint32_t number = find_owner(view.bridge_ends, view.image_count, blockIdx.x);
  const DeviceImage image = view.images[number];
  const Tables tables = load_tables(view, image, shared_tables());
  const std::uint32_t first_block = number == 0 ? 0 : view.bridge_ends[number - 1];
  const std::uint32_t tile = 1 + (blockIdx.x - first_block) * kBridgeThreads + threadIdx.x;
  if (tile >= image.tiles) return;
  const std::uint32_t end = min((tile + 1) * kTileSubsequences, image.subsequences);
  const PackedState state = view.tile_exits[image.first_tile + tile - 1].exit;
  decode_again(view, image, tables, tile, state, end, kTileSubsequences);
}

// ---- join -------------------------------------------------------------------------------------------------

// The first tile from `from` on that does not go on where the one before ends; image.tiles: none.
__device__ std::uint32_t find_open_tile(const GroupView& view, const DeviceImage& image, std::uint32_t from) {
  __shared__ std::uint32_t open;
  __syncthreads();
  if (threadIdx.x == 0) open = image.tiles;
  __syncthreads();
  for (std::uint32_t tile = from + threadIdx.x; tile < image.tiles; tile += blockDim.x) {
    if (is_joined(view, image, tile)) continue;
    atomicMin(&open, tile);
    break;
  }
  __syncthreads();
  return open;
}

// False: given up.
__device__ bool repair(const GroupView& view, const DeviceImage& image) {
  __shared__ std::uint32_t left;
  std::uint32_t tile = find_open_tile(view, image, 1);
  if (tile == image.tiles) return true;
  const Tables tables = load_tables(view, image, shared_tables());
  if (threadIdx.x == 0) left = kMostRepairs;
  for (; tile < image.tiles; tile = find_open_tile(view, image, tile + 1)) {
    if (threadIdx.x == 0) {
      const PackedState state = view.records[image.first_subsequence + tile * kTileSubsequences - 1].exit;
      left -= decode_again(view, image, tables, tile, state, image.subsequences, left);
    }
    __syncthreads();
    if (left == 0) return false;
  }
  return true;
}

// More blocks than an image can have are none of it: sums stay within 32 bits.
__device__ void limit_blocks(Sums& sums) {
  constexpr std::uint32_t kManyBlocks = 1U << 30;
  sums.blocks = min(sums.blocks, kManyBlocks);
}

// What the segment that each tile begins in has before it.
__device__ void sum_tiles(const GroupView& view, const DeviceImage& image) {
  __shared__ Sums warp_sums[kJoinThreads / kWarpLanes];
  __shared__ bool warp_starts[kJoinThreads / kWarpLanes];
  __shared__ Sums carry;
  if (threadIdx.x == 0) carry = {};
  for (std::uint32_t from = 0; from < image.tiles; from += kJoinThreads) {
    const std::uint32_t tile = from + threadIdx.x;
    const bool mine = tile < image.tiles;
    Sums sums = mine ? view.tile_sums[image.first_tile + tile] : Sums{};
    bool starts = mine && view.tile_exits[image.first_tile + tile].has_start != 0;
    __syncthreads();
    sums = scan_tile(sums, starts, warp_sums, warp_starts);
    if (!starts) add(sums, carry);
    limit_blocks(sums);
    if (tile + 1 < image.tiles) view.tile_bases[image.first_tile + tile + 1] = sums;
    __syncthreads();
    if (threadIdx.x == kJoinThreads - 1) carry = sums;
  }
  if (threadIdx.x == 0) view.tile_bases[image.first_tile] = {};
}

__global__ void __launch_bounds__(kJoinThreads) join(GroupView view) {
  const DeviceImage image = view.images[blockIdx.x];
  if (!repair(view, image)) {
    if (threadIdx.x == 0) view.verdicts[image.number] = kDamaged;
  }
  sum_tiles(view, image);
}

// ---- write ------------------------------------------------------------------------------------------------

// A block in shared memory. The space between is for the banks.
constexpr std::uint32_t kBlockBytes = kBlockSamples * sizeof(std::int16_t);
constexpr std::uint32_t kStagedBytes = kBlockBytes + 16;

struct alignas(16) StagedBlocks {
  std::byte bytes[kTileSubsequences][kStagedBytes];
};

__constant__ const std::uint8_t kPlaces[kBlockSamples] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// The whole warp: the blocks of lanes that have one, to where they belong; leaves zeros.
__device__ void flush_blocks(std::byte (*staged)[kStagedBytes], std::int16_t* to) {
  constexpr std::uint32_t kVectors = kBlockBytes / sizeof(uint4);
  constexpr std::uint32_t kAtOnce = kWarpLanes / kVectors;
  const std::uint32_t lane = threadIdx.x % kWarpLanes;
  __syncwarp();
#pragma unroll
  for (std::uint32_t step = 0; step < kVectors; ++step) {
    const std::uint32_t owner = step * kAtOnce + lane / kVectors;
    auto* const out = reinterpret_cast<uint4*>(
        __shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(to), static_cast<int>(owner)));
    if (out == nullptr) continue;
    auto* const vector = reinterpret_cast<uint4*>(staged[owner]) + lane % kVectors;
    out[lane % kVectors] = *vector;
    *vector = uint4{};
  }
  __syncwarp();
}

__device__ std::uint32_t warp_max(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAllLanes, value);
#else
  for (std::uint32_t step = kWarpLanes / 2; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(kAllLanes, value, static_cast<int>(step)));
  return value;
#endif
}

__global__ void __launch_bounds__(kTileSubsequences) write(GroupView view) {
  __shared__ StagedBlocks staged;
  __shared__ Sums warp_sums[kTileWarps];
  __shared__ bool warp_starts[kTileWarps];
  __shared__ std::uint8_t places[kBlockSamples];
  const DeviceImage image = view.images[find_owner(view.tile_ends, view.image_count, blockIdx.x)];
  const std::uint32_t index = (blockIdx.x - image.first_tile) * kTileSubsequences + threadIdx.x;
  const bool mine = index < image.subsequences;
  if (threadIdx.x < kBlockSamples) places[threadIdx.x] = kPlaces[threadIdx.x];
  for (std::uint32_t i = 0; i < kStagedBytes; i += sizeof(uint4))
    *reinterpret_cast<uint4*>(staged.bytes[threadIdx.x] + i) = uint4{};
  const Tables tables = load_tables(view, image, shared_tables());
  const Subsequence subsequence = find_subsequence(view, image, mine ? index : image.subsequences - 1);
  const Record record = mine ? view.records[image.first_subsequence + index] : Record{};
  const Sums sums = mine ? view.sums[image.first_subsequence + index] : Sums{};
  bool starts = mine && subsequence.starts_segment;
  Sums before = scan_tile(sums, starts, warp_sums, warp_starts);
  subtract(before, sums);
  if (!starts) add(before, view.tile_bases[blockIdx.x]);
  const OwnBlocks own = mine ? own_blocks(image, subsequence, before.blocks, sums.blocks) : OwnBlocks{};

  std::uint32_t block = record.first_block;
  bool in_order = true;
  BitWindow window(subsequence.words, own.count > 0 ? record.first_bit : 0);
  auto* const out = reinterpret_cast<std::int16_t*>(staged.bytes[threadIdx.x]);
  const auto store = [&](std::uint32_t place, std::int32_t value) {
    out[places[place]] = static_cast<std::int16_t>(value);
  };
  const std::uint32_t most = warp_max(own.count);
  for (std::uint32_t i = 0; i < most; ++i) {
    std::int16_t* to = nullptr;
    if (i < own.count && in_order) {
      const BlockKind kind = kind_of(image, block);
      std::uint32_t dc = kind.component == 0   ? before.dc[0]
                         : kind.component == 1 ? before.dc[1]
                                               : before.dc[2];
      in_order = decode_block(kind, tables, window, subsequence.bits_left, dc, store);
      for (std::uint32_t c = 0; c < 3; ++c) before.dc[c] = kind.component == c ? dc : before.dc[c];
      block = block + 1 == image.blocks_in_mcu ? 0 : block + 1;
      to = image.coefficients + std::size_t{own.first + i} * kBlockSamples;
    }
    flush_blocks(staged.bytes + threadIdx.x / kWarpLanes * kWarpLanes, to);
  }
  in_order = in_order && ends_well(view, image, index, subsequence, own, window.bit(), block);
  if (mine && !in_order) view.verdicts[image.number] = kDamaged;
}

}  // namespace

CudaStatus EntropyDecoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  const GroupView group = view(memory);
  const std::uint32_t tables_bytes = most_tables_ * static_cast<std::uint32_t>(sizeof(SymbolTable));
  constexpr std::uint32_t kTableThreads = 256;
  const std::uint32_t table_blocks =
      std::max(group.table_count, (group.task_count + kTableThreads - 1) / kTableThreads);
  if (table_blocks > 0) make_tables<<<table_blocks, kTableThreads, 0, launch.stream>>>(group);
  if (group.tile_count > 0) {
    synchronise<<<group.tile_count, kTileSubsequences, tables_bytes, launch.stream>>>(group);
    if (group.bridge_count > 0)
      bridge<<<group.bridge_count, kBridgeThreads, tables_bytes, launch.stream>>>(group);
    join<<<group.image_count, kJoinThreads, tables_bytes, launch.stream>>>(group);
    write<<<group.tile_count, kTileSubsequences, tables_bytes, launch.stream>>>(group);
  }
  return cudaGetLastError();
}

}  // namespace imgpipe

// Huffman decoding of a group of JPEGs. The code of a single thread: entropy_steps.h.
//
//   make_tables  expands the tables of all images from their code lengths
//   synchronise  a block per tile: each thread decodes its subsequence from a guessed state, then repeatedly
//                from the exit state of the previous subsequence, until nothing changes
//   bridge       a warp per tile: continues decoding from the previous tile's exit until it is in step
//   join         a block per image: sequentially decodes the parts still out of step; sums over the tiles
//   write        a block per tile: writes coefficients, and checks that the records are consistent
//
// Only `write` decides whether subsequences are in step: each thread must end where the next block begins, at
// the same bit and block of the MCU, or at its segment's end. The result is therefore that of a single
// decoder that begins at the segment's start.
#include <algorithm>

#include <cuda_runtime.h>

#include "images/codecs/jpeg/baseline_scan.h"
#include "kernels/jpeg/entropy_decoding.h"
#include "kernels/jpeg/entropy_shared.cuh"
#include "kernels/jpeg/entropy_steps.h"

namespace imgpipe {
namespace {

using namespace entropy;

constexpr std::uint32_t kJoinThreads = 256;
constexpr std::uint32_t kDamaged = 1;

// ---- tables -----------------------------------------------------------------------------------------------

// Block b expands table b. Thread t of the grid initialises the verdict of task t. No barriers.
__global__ void make_tables(GroupView view) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread < view.task_count) view.verdicts[thread] = kIntact;
  if (blockIdx.x >= view.table_count) return;
  auto* entries = reinterpret_cast<std::uint16_t*>(view.tables + blockIdx.x);
  for (std::uint32_t i = threadIdx.x; i < sizeof(SymbolTable) / sizeof(std::uint16_t); i += blockDim.x)
    entries[i] = table_entry(view.codes[blockIdx.x], i);
}

// ---- synchronise ------------------------------------------------------------------------------------------

constexpr std::uint32_t kTileWarps = kTileSubsequences / kWarpLanes;

// Assigns jobs to the first threads of the block: thread i gets the `job` of the i-th thread that has one.
// Returns the number of jobs. Two barriers: the warps' counts are complete; the jobs are stored.
__device__ std::uint32_t compact(bool has_job, std::uint32_t job, std::uint32_t* jobs,
                                 std::uint32_t* counts) {
  const std::uint32_t lane = threadIdx.x % kWarpLanes, warp = threadIdx.x / kWarpLanes;
  const std::uint32_t mask = __ballot_sync(kAllLanes, has_job);
  if (lane == 0) counts[warp] = __popc(mask);
  __syncthreads();
  std::uint32_t before = 0, all = 0;
  for (std::uint32_t i = 0; i < kTileWarps; ++i) {
    before += i < warp ? counts[i] : 0;
    all += counts[i];
  }
  if (has_job) jobs[before + __popc(mask & ((1U << lane) - 1))] = job;
  __syncthreads();
  return all;
}

// The part of a subsequence that other threads need.
struct SharedSubsequence {
  std::uint16_t first_word;  // index in the tile
  std::uint16_t end;         // in bits
};

// Each thread decodes one subsequence of the block's tile. Dynamic shared memory: the image's tables (4 KiB
// each, at most 6), the tile's words (17 KiB); static: 4.2 KiB of records, sums and jobs. Barriers: after
// loading; after all guesses; per round two in compact() and one after storing its records; in scan_tile().
__global__ void __launch_bounds__(kTileSubsequences) synchronise(GroupView view) {
  __shared__ Record records[kTileSubsequences];
  __shared__ Sums sums[kTileSubsequences];
  __shared__ SharedSubsequence subsequences[kTileSubsequences];
  __shared__ std::uint32_t jobs[kTileSubsequences], counts[kTileWarps], kinds[6];
  __shared__ Sums warp_sums[kTileWarps];
  __shared__ bool warp_starts[kTileWarps];
  const DeviceImage* const owner = view.images + find_owner(view.tile_ends, view.image_count, blockIdx.x);
  const DeviceImage image = *owner;
  const std::uint32_t first = (blockIdx.x - image.first_tile) * kTileSubsequences;
  const std::uint32_t index = first + threadIdx.x;
  const bool mine = index < image.subsequences;
  const Tables tables = load_tables(view, image, owner->kinds, kinds);
  const std::uint32_t* const begin = load_words(view, image, first);
  const std::uint32_t* const words = shared_words(image);
  const Subsequence subsequence = find_subsequence(view, image, mine ? index : image.subsequences - 1);
  const auto first_word = static_cast<std::uint32_t>(subsequence.words - begin);
  const std::uint32_t end = subsequence.end();
  subsequences[threadIdx.x] = {static_cast<std::uint16_t>(first_word), static_cast<std::uint16_t>(end)};
  __syncthreads();

  constexpr std::uint16_t kNoState = 0xFFFF;
  Record guess{};
  guess.entry = kNoState;
  Sums none;
  if (mine && !subsequence.ends_segment())
    decode_subsequence<Pass::guess>(tables, TileWords{words, first_word}, end, 0, guess, none);
  records[threadIdx.x] = guess;
  __syncthreads();
  const bool is_true = threadIdx.x == 0 || subsequence.starts_segment;
  // Round i no longer changes the first i records, so the loop terminates.
  for (std::uint32_t round = 0;; ++round) {
    const PackedState entry = is_true ? 0 : records[threadIdx.x - 1].exit;
    const bool again = mine && entry != records[threadIdx.x].entry;
    const std::uint32_t count = compact(again, entry << 16 | threadIdx.x, jobs, counts);
    if (count == 0) break;
    if (threadIdx.x < count) {
      const std::uint32_t job = jobs[threadIdx.x];
      const std::uint32_t number = job & 0xFFFF;
      const TileWords its_words{words, subsequences[number].first_word};
      Record record;
      Sums sum;
      if (round < kPlainRounds) {
        decode_subsequence<Pass::sums>(tables, its_words, subsequences[number].end, job >> 16, record, sum);
      } else {
        decode_subsequence<Pass::runs>(tables, its_words, subsequences[number].end, job >> 16, record, sum);
      }
      records[number] = record;
      sums[number] = sum;
    }
    __syncthreads();
  }
  Sums sum{};
  if (mine) {
    sum = sums[threadIdx.x];
    view.records[image.first_subsequence + index] = records[threadIdx.x];
    view.sums[image.first_subsequence + index] = sum;
  }
  bool starts = mine && subsequence.starts_segment;
  sum = scan_tile(sum, starts, warp_sums, warp_starts);
  // Threads without a subsequence are the last ones and add nothing.
  if (threadIdx.x == kTileSubsequences - 1) {
    view.tile_sums[blockIdx.x] = sum;
    view.tile_exits[blockIdx.x] = {mine ? records[threadIdx.x].exit : 0U, starts ? 1U : 0U};
  }
}

// ---- bridge -----------------------------------------------------------------------------------------------

// A warp's words of one subsequence, plus those of the next that a symbol may reach.
struct WarpWords {
  const std::uint32_t* words;
  __device__ std::uint32_t operator()(std::uint32_t i) const { return words[i]; }
};
constexpr std::uint32_t kWarpWords = kSubsequenceWords + 4;

// Decodes subsequences again with a whole warp, from `from` in state `state` on, until they are in step,
// `end` is reached or `budget` is spent. Lane 0 decodes. Returns the remaining budget.
__device__ std::uint32_t redecode(const GroupView& view, const DeviceImage& image, const Tables& tables,
                                  std::uint32_t* words, std::uint32_t from, PackedState state,
                                  std::uint32_t end, std::uint32_t budget) {
  const std::uint32_t lane = threadIdx.x % kWarpLanes;
  for (std::uint32_t i = from; i < end && budget > 0; ++i) {
    const Subsequence subsequence = find_subsequence(view, image, i);
    if (!is_out_of_step(view, image, i, subsequence, state)) break;
    const auto there = image.stream_words - static_cast<std::uint32_t>(subsequence.words - image.stream);
    for (std::uint32_t k = lane; k < kWarpWords; k += kWarpLanes)
      words[k] = k < there ? swapped(__ldg(subsequence.words + k)) : 0;
    __syncwarp();
    Record record{};
    std::uint32_t cost = 0;
    if (lane == 0) {
      Sums sums;
      cost = kSubsequenceCost +
             decode_subsequence<Pass::runs>(tables, WarpWords{words}, subsequence.end(), state, record, sums);
      replace(view, image, i, record, sums);
    }
    state = __shfl_sync(kAllLanes, record.exit, 0);
    cost = __shfl_sync(kAllLanes, cost, 0);
    budget -= min(budget, cost);
    __syncwarp();  // lane 0 has read the words
  }
  return budget;
}

// Each warp bridges one tile: decodes from its beginning with the exit state of the tile before; the first
// tile needs none. Dynamic shared memory: the image's tables, completed by the barrier; static: 36 words per
// warp.
__global__ void __launch_bounds__(kBridgeThreads) bridge(GroupView view) {
  __shared__ std::uint32_t kinds[6], words[kBridgeWarps][kWarpWords];
  const std::uint32_t number = find_owner(view.bridge_ends, view.image_count, blockIdx.x);
  const DeviceImage image = view.images[number];
  const Tables tables = load_tables(view, image, view.images[number].kinds, kinds);
  __syncthreads();
  const std::uint32_t first_block = number == 0 ? 0 : view.bridge_ends[number - 1];
  const std::uint32_t warp = threadIdx.x / kWarpLanes;
  const std::uint32_t tile = 1 + (blockIdx.x - first_block) * kBridgeWarps + warp;
  if (tile >= image.tiles) return;
  const std::uint32_t end = min((tile + 1) * kTileSubsequences, image.subsequences);
  const PackedState state = view.tile_exits[image.first_tile + tile - 1].exit;
  redecode(view, image, tables, words[warp], tile * kTileSubsequences, state, end, kRepairBudget);
}

// ---- join -------------------------------------------------------------------------------------------------

// Returns the first tile from `from` on that does not continue the tile before; image.tiles if none.
// Barriers: earlier readers of `open` are done; it is reset; all threads have voted.
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

// Decodes sequentially until all tiles are joined; returns false if the budget is spent. Warp 0 decodes.
// Barriers: tables and budget are set; the remaining budget and records are visible.
__device__ bool repair(const GroupView& view, const DeviceImage& image, const std::uint32_t* image_kinds) {
  __shared__ std::uint32_t left, kinds[6], words[kWarpWords];
  std::uint32_t tile = find_open_tile(view, image, 1);
  if (tile == image.tiles) return true;
  const Tables tables = load_tables(view, image, image_kinds, kinds);
  if (threadIdx.x == 0) left = kRepairBudget;
  __syncthreads();
  for (; tile < image.tiles; tile = find_open_tile(view, image, tile + 1)) {
    if (threadIdx.x < kWarpLanes) {
      const std::uint32_t first = tile * kTileSubsequences;
      const PackedState state = view.records[image.first_subsequence + first - 1].exit;
      const std::uint32_t rest = redecode(view, image, tables, words, first, state, image.subsequences, left);
      __syncwarp();
      if (threadIdx.x == 0) left = rest;
    }
    __syncthreads();
    if (left == 0) return false;
  }
  return true;
}

// Clamps the count, so that sums stay within 32 bits; no image has that many blocks.
__device__ void limit_blocks(Sums& sums) {
  constexpr std::uint32_t kManyBlocks = 1U << 30;
  sums.blocks = min(sums.blocks, kManyBlocks);
}

// Computes, for each tile, the sums of its first segment over all tiles before it. kJoinThreads tiles per
// step. Barriers: `carry` of the step before is set; all threads have read it.
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

// One block of threads per image. Dynamic shared memory: its tables. Barriers: in repair() and sum_tiles().
__global__ void __launch_bounds__(kJoinThreads) join(GroupView view) {
  const DeviceImage image = view.images[blockIdx.x];
  if (!repair(view, image, view.images[blockIdx.x].kinds)) {
    if (threadIdx.x == 0) view.verdicts[image.number] = kDamaged;
  }
  sum_tiles(view, image);
}

// ---- write ------------------------------------------------------------------------------------------------

// One block in shared memory. The padding avoids bank conflicts and takes coefficients beyond the 64th.
constexpr std::uint32_t kBlockBytes = kBlockSamples * sizeof(std::int16_t);
constexpr std::uint32_t kStagedBytes = kBlockBytes + 16;
constexpr std::uint32_t kPlaces = kMaxPlace + 1;

__constant__ const auto kPlaceOf = kZigzag;

// Copies the blocks of all lanes with non-null `to` to their destinations, eight lanes per block, and clears
// them. The whole warp must call it. Its barriers complete the blocks, then free them for reuse.
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

// Each thread decodes the blocks that begin in its subsequence, one per step into its staged block; its warp
// copies them out. Shared memory: dynamic as in synchronise(); static: 144 bytes per thread for blocks, 190
// bytes of positions. Barrier: in scan_tile(); it also covers the tables, words and positions.
__global__ void __launch_bounds__(kTileSubsequences) write(GroupView view) {
  __shared__ __align__(16) std::byte staged[kTileSubsequences][kStagedBytes];
  __shared__ Sums warp_sums[kTileWarps];
  __shared__ bool warp_starts[kTileWarps];
  __shared__ std::uint8_t positions[kPlaces];
  __shared__ std::uint32_t kinds[6];
  const DeviceImage* const owner = view.images + find_owner(view.tile_ends, view.image_count, blockIdx.x);
  const DeviceImage image = *owner;
  const std::uint32_t first = (blockIdx.x - image.first_tile) * kTileSubsequences;
  const std::uint32_t index = first + threadIdx.x;
  const bool mine = index < image.subsequences;
  for (std::uint32_t i = threadIdx.x; i < kPlaces; i += kTileSubsequences)
    positions[i] = i < kBlockSamples ? kPlaceOf[i] : static_cast<std::uint8_t>(kBlockSamples);
  for (std::uint32_t i = 0; i < kStagedBytes; i += sizeof(uint4))
    *reinterpret_cast<uint4*>(staged[threadIdx.x] + i) = uint4{};
  const Tables tables = load_tables(view, image, owner->kinds, kinds);
  const std::uint32_t* const begin = load_words(view, image, first);
  const Subsequence subsequence = find_subsequence(view, image, mine ? index : image.subsequences - 1);
  const Record record = mine ? view.records[image.first_subsequence + index] : Record{};
  const Sums sums = mine ? view.sums[image.first_subsequence + index] : Sums{};
  bool starts = mine && subsequence.starts_segment;
  Sums before = scan_tile(sums, starts, warp_sums, warp_starts);  // barrier inside
  subtract(before, sums);
  if (!starts) add(before, view.tile_bases[blockIdx.x]);
  const SubsequenceBlocks own =
      mine ? blocks_of_subsequence(image, subsequence, before.blocks, sums.blocks) : SubsequenceBlocks{};

  std::uint32_t block = record.first_block;
  bool is_intact = true;
  const TileWords words{shared_words(image), static_cast<std::uint32_t>(subsequence.words - begin)};
  BitWindow<TileWords> window(words, own.count > 0 ? record.first_bit : 0);
  auto* const out = reinterpret_cast<std::int16_t*>(staged[threadIdx.x]);
  const auto store = [&](std::uint32_t position, std::int32_t value) {
    out[positions[position]] = static_cast<std::int16_t>(value);
  };
  const std::uint32_t most = warp_max(own.count);
  for (std::uint32_t i = 0; i < most; ++i) {
    std::int16_t* to = nullptr;
    if (i < own.count && is_intact) {
      const std::uint32_t kind = kinds[block];
      const std::uint32_t component = component_of(kind);
      std::uint32_t dc = component == 0 ? before.dc[0] : component == 1 ? before.dc[1] : before.dc[2];
      is_intact = window.bit() < kSubsequenceBits && decode_block(kind, tables, window, dc, store) &&
                  window.bit() <= subsequence.bits_left;
      for (std::uint32_t c = 0; c < 3; ++c) before.dc[c] = component == c ? dc : before.dc[c];
      block = block + 1 == image.blocks_in_mcu ? 0 : block + 1;
      to = image.coefficients + std::size_t{own.first + i} * kBlockSamples;
    }
    flush_blocks(staged + threadIdx.x / kWarpLanes * kWarpLanes, to);
  }
  is_intact = is_intact && ends_consistently(view, image, index, subsequence, own, window.bit(), block);
  if (mine && !is_intact) view.verdicts[image.number] = kDamaged;
}

}  // namespace

CudaStatus EntropyDecoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  const GroupView group = view(memory);
  constexpr std::uint32_t kTableThreads = 256;
  const std::uint32_t table_blocks =
      std::max(group.table_count, (group.task_count + kTableThreads - 1) / kTableThreads);
  if (table_blocks == 0) return cudaSuccess;
  make_tables<<<table_blocks, kTableThreads, 0, launch.stream>>>(group);
  cudaError_t launched = cudaGetLastError();  // each kernel reads the results of the one before
  if (group.tile_count > 0 && launched == cudaSuccess) {
    // The same value in all calls, so that concurrent launches agree.
    constexpr std::size_t kMaxBytes = kMaxTables * sizeof(SymbolTable) + kTileWordBytes;
    const cudaError_t status =
        cudaFuncSetAttribute(write, cudaFuncAttributeMaxDynamicSharedMemorySize, int{kMaxBytes});
    if (status != cudaSuccess) return status;
    const std::size_t tables_bytes = max_tables_ * sizeof(SymbolTable);
    const std::size_t tile_bytes = tables_bytes + kTileWordBytes;
    synchronise<<<group.tile_count, kTileSubsequences, tile_bytes, launch.stream>>>(group);
    launched = cudaGetLastError();
    if (launched == cudaSuccess && group.bridge_count > 0) {
      bridge<<<group.bridge_count, kBridgeThreads, tables_bytes, launch.stream>>>(group);
      launched = cudaGetLastError();
    }
    if (launched == cudaSuccess) {
      join<<<group.image_count, kJoinThreads, tables_bytes, launch.stream>>>(group);
      launched = cudaGetLastError();
    }
    if (launched == cudaSuccess) {
      write<<<group.tile_count, kTileSubsequences, tile_bytes, launch.stream>>>(group);
      launched = cudaGetLastError();
    }
  }
  return launched;
}

}  // namespace imgpipe

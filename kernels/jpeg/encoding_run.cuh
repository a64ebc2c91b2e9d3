// Encodes a run of blocks from pixels to bits. This kernel takes nearly all of an encoding's time.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/jpeg/encoding_records.h"
#include "kernels/jpeg/encoding_samples.cuh"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

// The shared memory of encode_runs_kernel(), 33.2 KB. Each thread has one column of `words`, so that no two
// lanes share a bank (see kLead).
struct RunShared {
  std::uint32_t words[kColumnWords][kRunBlocks];
  EncodingCodes codes[2];
  uint2 steps[2][kBlockSamples];        // QuantizerStep
  std::int32_t dc[kRunBlocks];          // by position in the run
  std::int32_t dc_before[3];            // by component, from the run before
  std::uint32_t begin[kRunBlocks + 1];  // a block's first bit, by position in the run
  std::uint32_t warp_bits[kRunBlocks / kWarpLanes];
};

// Returns the zigzag position of the coefficient in row y, column x. Both must be compile-time constants.
__device__ constexpr int zigzag_position(int y, int x) {
  constexpr std::uint8_t kPlaces[kBlockSamples]{
      0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42, 3,  8,  12, 17, 25, 30,
      41, 43, 9,  11, 18, 24, 31, 40, 44, 53, 10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38,
      46, 51, 55, 60, 21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};
  return kPlaces[y * kBlockSide + x];
}

__device__ __forceinline__ QuantizerStep step_of(uint2 words) {
  return {words.x, words.y};
}

class ColumnBits {
 public:
  __device__ explicit ColumnBits(std::uint32_t* column) : column_(column) {}

  __device__ __forceinline__ void put(std::uint32_t value, int count) {
    bits_ = bits_ << count | value;
    pending_ += count;
    if (pending_ >= 32) {
      pending_ -= 32;
      column_[next_] = static_cast<std::uint32_t>(bits_ >> pending_);
      next_ += kRunBlocks;
    }
  }
  // Flushes, and returns the number of bits; the last word's unused bits are undefined.
  __device__ __forceinline__ std::uint32_t finish() {
    if (pending_ > 0) column_[next_] = static_cast<std::uint32_t>(bits_ << (32 - pending_));
    return next_ / kRunBlocks * 32 + static_cast<std::uint32_t>(pending_);
  }

 private:
  std::uint32_t* column_;
  std::uint32_t next_ = 0;  // next word to store
  std::uint64_t bits_ = 0;
  int pending_ = 0;  // bits not stored yet, fewer than 32
};

// Returns the index of a zigzag position's coefficient, in half words after word kLead of the column.
__device__ __forceinline__ constexpr int half_word_index(int position) {
  return position * kRunBlocks - (position & 1) * (kRunBlocks - 1);
}
static_assert(kRunBlocks % 2 == 0);

__device__ __forceinline__ void load_samples(std::uint32_t* column, const JpegEncodingImage& image,
                                             const BlockPosition& position) {
  const auto keep = [&](int y, uint2 row) {
    column[2 * y * kRunBlocks] = row.x;
    column[(2 * y + 1) * kRunBlocks] = row.y;
  };
  if (image.scan.blocks_in_mcu == 1) {
    const GreyRows rows(image, position);
#pragma unroll
    for (int y = 0; y < kBlockSide; ++y) keep(y, rows.row(y));
  } else {
#pragma unroll 2
    for (int y = 0; y < kBlockSide; ++y) keep(y, block_row(image, position, y));
  }
}

// Transforms samples to coefficients within the column; sets `dc`. Returns a mask of non-zero positions.
__device__ __forceinline__ std::uint64_t transform(std::uint32_t* column, const uint2* steps,
                                                   std::int32_t& dc) {
  std::int32_t block[kBlockSide][kBlockSide];
#pragma unroll
  for (int y = 0; y < kBlockSide; ++y) {
    const std::uint32_t words[2]{column[2 * y * kRunBlocks], column[(2 * y + 1) * kRunBlocks]};
#pragma unroll
    for (int x = 0; x < kBlockSide; ++x) block[y][x] = static_cast<std::int32_t>(byte_of(words, x));
    forward_dct_pass<true>(block[y]);
  }
  auto* coded = reinterpret_cast<CodedValue*>(column + kLead * kRunBlocks);
  std::uint32_t positions[2]{};
#pragma unroll
  for (int x = 0; x < kBlockSide; ++x) {
    std::int32_t line[kBlockSide];
#pragma unroll
    for (int y = 0; y < kBlockSide; ++y) line[y] = block[y][x];
    forward_dct_pass<false>(line);
    // Only the DC coefficient depends on the level shift.
    if (x == 0) line[0] = dc_of_sum(line[0]);
#pragma unroll
    for (int y = 0; y < kBlockSide; ++y) {
      const int position = zigzag_position(y, x);
      const std::uint32_t magnitude = quantized_magnitude(line[y], step_of(steps[position]));
      const std::int32_t value = coded_value(line[y], magnitude);
      if (position == 0) {
        dc = value_of_coded(value);
        continue;
      }
      coded[half_word_index(position)] = static_cast<CodedValue>(value);
      positions[position / 32] += min(magnitude, 1U) << (31 - position % 32);
    }
  }
  return std::uint64_t{positions[0]} << 32 | positions[1];
}

// Computes the DC coefficient of a block with a whole warp: eight lanes sum one row each.
__device__ inline std::int32_t dc_by_warp(const JpegEncodingImage& image, const BlockPosition& position,
                                          QuantizerStep step) {
  std::uint32_t sum = 0;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  if (lane < kBlockSide) {
    const uint2 row = block_row(image, position, lane);
    sum = __dp4a(row.x, 0x01010101U, __dp4a(row.y, 0x01010101U, 0U));
  }
#pragma unroll
  for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, apart);
  const std::int32_t x = dc_of_sum(static_cast<std::int32_t>(sum));
  return value_of_coded(coded_value(x, quantized_magnitude(x, step)));
}

// Returns inclusive sums over a warp's lanes.
template <class T>
__device__ __forceinline__ T sum_to_lane(T value) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
#pragma unroll
  for (int apart = 1; apart < kWarpLanes; apart *= 2) {
    const T before = __shfl_up_sync(0xFFFFFFFF, value, apart);
    if (lane >= apart) value += before;
  }
  return value;
}

// Computes begin[]; `bits` is the length of the block at position threadIdx.x. Two barriers: after storing
// the warps' sums, and after storing begin[].
__device__ inline void compute_begins(RunShared& shared, std::uint32_t bits) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / kWarpLanes;
  std::uint32_t end = sum_to_lane(bits);
  if (thread % kWarpLanes == kWarpLanes - 1) shared.warp_bits[warp] = end;
  __syncthreads();
  for (int i = 0; i < warp; ++i) end += shared.warp_bits[i];
  shared.begin[thread + 1] = end;
  if (thread == 0) shared.begin[0] = 0;
  __syncthreads();
}

// Returns word `i` of the run's bits, assembled from the blocks that overlap it; ones follow the last bit.
__device__ inline std::uint32_t run_word(const RunShared& shared, std::uint32_t i, int blocks_in_mcu,
                                         int mcus_in_run) {
  std::uint32_t position = last_at_most(shared.begin, kRunBlocks, 32 * i);
  std::uint32_t word = 0;
  for (std::uint32_t have = 0; have < 32 && position < kRunBlocks; ++position) {
    const std::uint32_t begin = shared.begin[position];
    const std::uint32_t from = 32 * i + have - begin;  // bit of the block
    const std::uint32_t left = shared.begin[position + 1] - begin - from;
    if (left == 0) continue;
    const auto mcu = static_cast<int>(position) / blocks_in_mcu;
    const int thread = (static_cast<int>(position) - mcu * blocks_in_mcu) * mcus_in_run + mcu;
    const std::uint32_t at = from / 32;
    const std::uint32_t next = at + 1 < kColumnWords ? shared.words[at + 1][thread] : 0;
    const std::uint32_t bits = __funnelshift_l(next, shared.words[at][thread], from % 32);
    word |= bits >> have;
    have += left;
    if (have < 32) word &= ~(0xFFFFFFFFU >> have);
    if (have < 32) continue;
    return word;
  }
  const std::uint32_t used = shared.begin[kRunBlocks] - 32 * i;
  return word | 0xFFFFFFFFU >> used;
}

__device__ inline void load_tables(RunShared& shared, const std::byte* memory, const JpegEncodingGroup& group,
                                   const JpegEncodingImage& image) {
  const auto copy = [](auto* to, const void* from, std::size_t bytes) {
    auto* words = reinterpret_cast<std::uint32_t*>(to);
    for (std::size_t i = threadIdx.x; i < bytes / sizeof(std::uint32_t); i += kRunBlocks)
      words[i] = __ldg(static_cast<const std::uint32_t*>(from) + i);
  };
  copy(shared.codes, memory + group.codes, sizeof shared.codes);
  copy(shared.steps, image.steps, sizeof shared.steps);
}

__device__ inline void store_run(const RunShared& shared, std::byte* memory, const JpegEncodingGroup& group,
                                 const JpegEncodingImage& image, std::uint32_t run) {
  const std::uint32_t bits = shared.begin[kRunBlocks];
  const std::uint32_t words = (bits + 31) / 32;
  const bool fits = words <= image.slot_words;
  if (threadIdx.x == 0)
    reinterpret_cast<std::uint32_t*>(memory + group.run_bits)[run] = fits ? bits : kSlotOverflow;
  if (!fits) return;
  auto* slot = reinterpret_cast<std::uint32_t*>(memory + image.slots) +
               std::uint64_t{run - image.first_run} * image.slot_words;
  const int blocks_in_mcu = image.scan.blocks_in_mcu;
  const int mcus_in_run = image.mcus_in_run;
  for (std::uint32_t i = threadIdx.x; i < words; i += kRunBlocks)
    slot[i] = run_word(shared, i, blocks_in_mcu, mcus_in_run);
}

// One block of threads per run, one thread per block: thread j * mcus_in_run + m codes block j of the run's
// MCU m, so that the lanes of a warp do the same work. Shared memory: RunShared. Barriers: after loading
// tables; after storing all DC coefficients; after storing all lengths; after reading them; in
// compute_begins().
//
// H200, 2026-11-22, groups of 8 images of 8 MP at quality 90, grey and RGB, GP/s: 382 and 164 with 3 blocks
// per multiprocessor (96 registers), 431 and 186 with 4 (80), 437 and 192 with 5 (64, 80 bytes spilled).
__global__ void __launch_bounds__(kRunBlocks, fitting_blocks(kRunBlocks, 5))
    encode_runs_kernel(std::byte* memory, const JpegEncodingGroup group) {
  __shared__ RunShared shared;
  const int thread = static_cast<int>(threadIdx.x);
  const std::uint32_t run = blockIdx.x;
  const auto* first_runs = reinterpret_cast<const std::uint32_t*>(memory + group.first_run);
  const JpegEncodingImage& image = reinterpret_cast<const JpegEncodingImage*>(
      memory + group.image)[last_at_most(first_runs, group.images, run)];
  load_tables(shared, memory, group, image);

  const ForwardScan scan = image.scan;
  const std::int32_t first_mcu = static_cast<std::int32_t>(run - image.first_run) * image.mcus_in_run;
  const int block = thread / image.mcus_in_run;
  const int mcu_of_run = thread - block * image.mcus_in_run;
  const int place_of_run = mcu_of_run * scan.blocks_in_mcu + block;
  const bool has_block = first_mcu + mcu_of_run < scan.mcus;
  const BlockPosition position = block_position(scan, has_block ? first_mcu + mcu_of_run : first_mcu, block);
  const int plane = position.component == 0 ? 0 : 1;
  std::uint32_t* column = &shared.words[0][thread];
  if (has_block) load_samples(column, image, position);
  __syncthreads();

  std::int32_t dc = 0;
  std::uint64_t positions = 0;
  if (has_block) positions = transform(column, shared.steps[plane], dc);
  shared.dc[place_of_run] = dc;
  // The DC coefficients of the previous run that this run's first differences refer to.
  const int back = blocks_back(scan, block);
  const bool reaches_back = first_mcu > 0 && back > block;
  if (reaches_back && mcu_of_run < kWarpLanes) {  // uniform across a warp
    const BlockPosition last = block_position(scan, first_mcu - 1, block - back + scan.blocks_in_mcu);
    const std::int32_t before = dc_by_warp(image, last, step_of(shared.steps[plane][0]));
    if (mcu_of_run == 0) shared.dc_before[position.component] = before;
  }
  __syncthreads();

  std::uint32_t bits = 0;
  if (has_block) {
    const int before = place_of_run - back;
    const std::int32_t dc_before = before >= 0    ? shared.dc[before]
                                   : reaches_back ? shared.dc_before[position.component]
                                                  : 0;
    ColumnBits to(column);
    const auto* coded = reinterpret_cast<const CodedValue*>(column + kLead * kRunBlocks);
    const auto coded_at = [&](int i) -> std::int32_t { return coded[half_word_index(i)]; };
    code_block(dc - dc_before, position.dummy ? 0 : positions, coded_at, shared.codes[plane].data(), to);
    bits = to.finish();
  }
  shared.begin[place_of_run] = bits;
  __syncthreads();
  bits = shared.begin[thread];
  __syncthreads();
  compute_begins(shared, bits);
  store_run(shared, memory, group, image, run);
}

}  // namespace imgpipe

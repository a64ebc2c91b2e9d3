// Transforms eight blocks of coefficients to samples with one warp (block_transform.h).
#pragma once

#include <cuda_pipeline.h>

#include "kernels/jpeg/reconstruction_plan.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {

// Reads the register %laneid: the compiler knows that its value is below 32, and does not recompute it at
// every use.
__device__ __forceinline__ unsigned lane_of_thread() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

// Addresses of one lane's blocks in an image, item by item.
class LaneBlocks {
 public:
  // `block`: position of the lane's block within an item and its MCU.
  __device__ LaneBlocks(const ReconstructionImage& image, const BlockOfMcu& block, std::uint32_t group_mcus)
      : rows_(reinterpret_cast<const std::byte*>(image.coefficients) + block.in_mcu * kBlockBytes +
              lane_of_thread() % kBlockLanes * sizeof(uint4)),
        mcu_(block.mcu),
        group_mcus_(group_mcus) {}
  // The address of row `part` of the lane's block.
  __device__ __forceinline__ const std::byte* at(const BlockOrder& order, const ItemWalk& walk) const {
    return rows_ + order.position(order.first_mcu(walk.mcu_row(), walk.group(), group_mcus_) + mcu_);
  }

 private:
  const std::byte* rows_;
  std::uint32_t mcu_, group_mcus_;
};

// The rows of its block that a lane holds between the passes: part and part + 4.
struct TwoRows {
  uint4 upper, lower;
  bool alike;  // in all eight blocks only the first row of coefficients is non-zero
};

// One lane's view of its warp's shared memory (kTransformWords words on a 16-byte boundary), which receives
// eight blocks and exchanges them between the passes. All lanes must call its functions together.
class TransformBuffer {
 public:
  __device__ explicit TransformBuffer(std::uint32_t* words)
      : words_(words), lane_(lane_of_thread()), part_(lane_ % kBlockLanes) {}

  // Starts the copy of the lane's rows part and part + 4 (`rows`: LaneBlocks::at()). Having each lane fetch
  // rows of two blocks, so that memory is read in whole blocks, is 1.5 % slower (H200, 2026-11-22).
  __device__ __forceinline__ void fetch(const std::byte* rows) const {
    std::uint32_t* const to = words_ + row_word(lane_ / kBlockLanes, part_);
    __pipeline_memcpy_async(to, rows, sizeof(uint4));
    __pipeline_memcpy_async(to + kBlockLanes * kRowWords, rows + kBlockLanes * sizeof(uint4), sizeof(uint4));
    __pipeline_commit();
  }

  // Transforms the columns of the fetched blocks; the caller has waited for its copies. The first barrier
  // makes all copies visible, the second one the transformed columns; the last one frees the words for
  // fetch().
  __device__ __forceinline__ TwoRows pass_columns(const ComponentSteps& steps) const {
    __syncwarp();
    std::uint32_t pairs[kBlockSide];
#pragma unroll
    for (unsigned y = 0; y < kBlockSide; ++y) pairs[y] = words_[column_word(lane_, y)];
    const std::uint32_t far_rows = pairs[4] | pairs[5] | pairs[6] | pairs[7];
    const unsigned not_flat = __ballot_sync(~0U, (far_rows | pairs[1] | pairs[2] | pairs[3]) != 0);
    TwoRows out;
    out.alike = not_flat == 0;
    if (out.alike) {
      words_[column_word(lane_, 0)] = flat_columns(pairs[0], steps.of[0][part_]);
      __syncwarp();
      out.upper = out.lower = row_of(0);
    } else {
      const bool flat = (not_flat >> (lane_ - part_) & 0xF) == 0;
      std::uint32_t words[kBlockSide];
      if (__any_sync(~0U, far_rows != 0)) {
        transform_columns<8>(pairs, steps, part_, flat, words);
      } else {
        transform_columns<4>(pairs, steps, part_, flat, words);
      }
#pragma unroll
      for (unsigned y = 0; y < kBlockSide; ++y) words_[column_word(lane_, y)] = words[y];
      __syncwarp();
      out.upper = row_of(part_);
      out.lower = row_of(part_ + kBlockLanes);
    }
    __syncwarp();
    return out;
  }

 private:
  __device__ __forceinline__ uint4 row_of(unsigned y) const {
    return *reinterpret_cast<const uint4*>(words_ + row_word(lane_ / kBlockLanes, y));
  }

  std::uint32_t* words_;
  unsigned lane_, part_;
};

// Transforms the rows and exchanges one row with the partner lane.
__device__ __forceinline__ SampleVector pass_rows(const TwoRows& rows) {
  const unsigned lane = lane_of_thread();
  const EightSamples upper = transform_row(rows.upper.x, rows.upper.y, rows.upper.z, rows.upper.w);
  EightSamples lower = upper;
  if (!rows.alike) lower = transform_row(rows.lower.x, rows.lower.y, rows.lower.z, rows.lower.w);
  const bool gives_lower = gives_lower_row(lane);
  EightSamples got;
  got.word[0] = __shfl_xor_sync(~0U, gives_lower ? lower.word[0] : upper.word[0], kBlockLanes);
  got.word[1] = __shfl_xor_sync(~0U, gives_lower ? lower.word[1] : upper.word[1], kBlockLanes);
  return combine_rows(lane, upper, lower, got);
}

}  // namespace imgpipe

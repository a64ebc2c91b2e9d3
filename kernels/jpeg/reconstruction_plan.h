// Describes a group of images to the kernels of JpegReconstruction and divides its work. For host and device.
//
// Work comes in items; a warp handles one at a time:
//
//   colour items   the Cb and Cr blocks of four adjacent MCUs, to samples in the group's memory
//   luma items     eight adjacent luma blocks, to samples and, with the colour samples, to pixels
//
// Each block of threads handles a run of consecutive items, which may span images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/host_device.h"
#include "images/luma.h"
#include "kernels/jpeg/block_transform.h"
#include "kernels/jpeg/pixel_vector.h"
#include "kernels/jpeg/reconstruction.h"

namespace imgpipe {

inline constexpr unsigned kColourItemMcus = kTransformBlocks / 2;
inline constexpr unsigned kBlockBytes = kBlockSamples * sizeof(std::int16_t);

// The position of a lane's blocks in the coefficients: one block of each MCU, or of every second MCU.
struct BlockOfMcu {
  std::uint32_t mcu = 0;     // index in the item
  std::uint32_t in_mcu = 0;  // index of the block in the MCU
};

struct BlockOrder {
  std::uint32_t mcus_across = 0;
  std::uint32_t last_mcu = 0;                     // of the image
  std::uint32_t mcu_bytes = 0;                    // of coefficients
  std::uint8_t across_shift = 0, down_shift = 0;  // 2^shift blocks of luma in an MCU
  std::uint8_t blocks_in_mcu = 1;

  // Block `x` of a luma item, in row `y` of the MCU's blocks.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr BlockOfMcu luma(unsigned x, unsigned y) const {
    return {x >> across_shift, (y << across_shift) + (x & ((1U << across_shift) - 1))};
  }
  // Block `x` of a colour item: Cb and Cr alternate.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr BlockOfMcu colour(unsigned x) const {
    return {x / 2, blocks_in_mcu - 2U + x % 2};
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t first_mcu(std::uint32_t mcu_row,
                                                                      std::uint32_t group,
                                                                      std::uint32_t group_mcus) const {
    return mcu_row * mcus_across + group * group_mcus;
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t luma_group_mcus() const {
    return kTransformBlocks >> across_shift;
  }
  // The byte offset of MCU `mcu` in the coefficients. An item that crosses the end of a row has MCUs of the
  // next row, and the last MCU repeats after the image's end; their samples are discarded.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint64_t position(std::uint32_t mcu) const {
    return std::uint64_t{mcu < last_mcu ? mcu : last_mcu} * mcu_bytes;
  }
};

struct alignas(16) ReconstructionImage {
  const std::int16_t* coefficients = nullptr;
  Sample8* pixels = nullptr;  // nullptr: not written
  Sample8* grey = nullptr;
  std::uint64_t* counts = nullptr;
  std::int64_t pixel_stride = 0, grey_stride = 0;
  std::int64_t colour_offset = 0;  // in the group's memory; a vector of 8 pairs per MCU
  std::uint32_t width = 0, height = 0;
  std::uint32_t colour_width = 0, colour_height = 0;
  BlockOrder order;
  Upsampling upsampling = Upsampling::grey;
  std::uint32_t luma_groups = 0;    // items across
  std::uint32_t colour_groups = 0;  // colour items across
  ByteWeights weights;
  ComponentSteps steps[3] = {};
};

// Iterates over the items first, first + step, ... of one image. Within a row of MCUs, items alternate
// between upper and lower luma blocks, so that adjacent warps read adjacent coefficients. `step` must be a
// multiple of the MCU's luma block rows; a walk thus stays with the upper or the lower blocks.
class ItemWalk {
 public:
  // `groups`: items across; `down_shift`: of the luma blocks, 0 for colour.
  IMGPIPE_HOST_DEVICE constexpr ItemWalk(std::uint64_t first, std::uint32_t step, std::uint32_t groups,
                                         unsigned down_shift)
      : groups_(groups), lower_(static_cast<std::uint32_t>(first) & ((1U << down_shift) - 1)) {
    const std::uint64_t group = first >> down_shift;
    mcu_row_ = static_cast<std::uint32_t>(group / groups);
    group_ = static_cast<std::uint32_t>(group % groups);
    step_rows_ = (step >> down_shift) / groups;
    step_groups_ = (step >> down_shift) % groups;
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t group() const { return group_; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t mcu_row() const { return mcu_row_; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t lower() const { return lower_; }
  IMGPIPE_HOST_DEVICE constexpr void next() {
    mcu_row_ += step_rows_;
    group_ += step_groups_;
    if (group_ >= groups_) {
      group_ -= groups_;
      ++mcu_row_;
    }
  }

 private:
  std::uint32_t groups_, lower_;
  std::uint32_t mcu_row_ = 0, group_ = 0;
  std::uint32_t step_rows_ = 0, step_groups_ = 0;
};

// The items of one of `blocks` blocks of threads.
struct ItemRun {
  std::uint64_t begin = 0, end = 0;
};
IMGPIPE_HOST_DEVICE constexpr ItemRun run_of(std::uint64_t items, unsigned block, unsigned blocks) {
  const std::uint64_t each = items / blocks;
  const std::uint64_t rest = items % blocks;
  const std::uint64_t begin = each * block + (block < rest ? block : rest);
  return {begin, begin + each + (block < rest ? 1 : 0)};
}

// ---- on the host -----------------------------------------------------------------------------------------

// The upload: `images`, then for luma and for colour the first item of each image and the end of the last.
struct ReconstructionPlan {
  std::vector<ReconstructionImage> images;
  std::vector<std::uint64_t> first_luma, first_colour;
  std::size_t bytes = 0;  // of the group's memory, including colour planes
  // Whether any colour image has pixels or grey as output, and whether any image is counted.
  bool any_pixels = false, any_grey = false, any_counts = false;

  [[nodiscard]] std::size_t luma_offset() const { return images.size() * sizeof(ReconstructionImage); }
  [[nodiscard]] std::size_t colour_offset() const {
    return luma_offset() + first_luma.size() * sizeof(std::uint64_t);
  }
  [[nodiscard]] std::size_t upload_bytes() const {
    return colour_offset() + first_colour.size() * sizeof(std::uint64_t);
  }
};
[[nodiscard]] ReconstructionPlan plan_reconstruction(const std::vector<ReconstructionTask>& tasks);

}  // namespace imgpipe

// What the kernels of JpegReconstruction know of a group of images, and how they share its work. For host and
// device.
//
// Work comes in items, one for a warp at a time:
//
//   colour items   four MCUs side by side: their blocks of Cb and of Cr, to samples in the group's memory
//   luma items     eight blocks of luma side by side, to samples and with the colours' to pixels
//
// Each block of threads has a run of items that follow one another, through images too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/host_device.h"
#include "kernels/gray/luma.h"
#include "kernels/jpeg/block_transform.h"
#include "kernels/jpeg/pixel_vector.h"
#include "kernels/jpeg/reconstruction.h"

namespace imgpipe {

inline constexpr unsigned kColourItemMcus = kTransformBlocks / 2;

// How blocks follow one another in the coefficients.
struct BlockOrder {
  std::uint32_t mcus_across = 0;
  std::uint8_t across_shift = 0, down_shift = 0;  // 2^shift blocks of luma in an MCU
  std::uint8_t blocks_in_mcu = 1;

  // The number of the block of luma in column x and row y of them.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint64_t luma(std::uint32_t x, std::uint32_t y) const {
    const std::uint64_t mcu = std::uint64_t{y >> down_shift} * mcus_across + (x >> across_shift);
    const std::uint32_t in_row = y & ((1U << down_shift) - 1);
    const std::uint32_t in_mcu = (in_row << across_shift) + (x & ((1U << across_shift) - 1));
    return mcu * blocks_in_mcu + in_mcu;
  }
  // That of Cb (0) or Cr (1).
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint64_t colour(std::uint32_t mcu_x, std::uint32_t mcu_y,
                                                                   unsigned which) const {
    const std::uint64_t mcu = std::uint64_t{mcu_y} * mcus_across + mcu_x;
    return mcu * blocks_in_mcu + (blocks_in_mcu - 2U) + which;
  }
};

// One image, as it lies on the device.
struct ReconstructionImage {
  const std::int16_t* coefficients = nullptr;
  Sample* pixels = nullptr;  // nullptr: not wanted
  Sample* grey = nullptr;
  std::uint64_t* counts = nullptr;
  std::int64_t pixel_stride = 0, grey_stride = 0;
  std::int64_t colour_offset = 0, colour_stride = 0;  // bytes; of the group's memory
  std::uint32_t width = 0, height = 0;
  std::uint32_t colour_width = 0, colour_height = 0;
  BlockOrder order;
  Upsampling upsampling = Upsampling::grey;
  std::uint32_t luma_blocks = 0;    // across, of those that hold pixels
  std::uint32_t luma_groups = 0;    // items across
  std::uint32_t colour_groups = 0;  // the same of colour
  std::uint32_t padding = 0;
  ByteWeights weights;
  std::uint16_t steps[3][kBlockSamples] = {};  // row by row
};
static_assert(sizeof(ReconstructionImage) % 8 == 0);

// Where an item of luma lies: rows of MCUs have their upper and their lower blocks in turn, so that what
// follows one another in the file is read by neighbours.
struct ItemPlace {
  std::uint32_t group = 0;  // across
  std::uint32_t row = 0;    // of blocks
};

// Walks over the items first, first + step, ... of one image. `step` is a multiple of the blocks of luma that
// an MCU has one above the other.
class ItemWalk {
 public:
  // `groups`: items across; `down_shift`: of luma, 0 for colour.
  IMGPIPE_HOST_DEVICE constexpr ItemWalk(std::uint64_t first, std::uint32_t step, std::uint32_t groups,
                                         unsigned down_shift)
      : groups_(groups), down_shift_(down_shift) {
    const std::uint64_t group = first >> down_shift;
    lower_ = static_cast<std::uint32_t>(first) & ((1U << down_shift) - 1);
    mcu_row_ = static_cast<std::uint32_t>(group / groups);
    group_ = static_cast<std::uint32_t>(group % groups);
    step_rows_ = (step >> down_shift) / groups;
    step_groups_ = (step >> down_shift) % groups;
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr ItemPlace place() const {
    return {group_, (mcu_row_ << down_shift_) + lower_};
  }
  IMGPIPE_HOST_DEVICE constexpr void next() {
    mcu_row_ += step_rows_;
    group_ += step_groups_;
    if (group_ >= groups_) {
      group_ -= groups_;
      ++mcu_row_;
    }
  }

 private:
  std::uint32_t groups_, down_shift_;
  std::uint32_t mcu_row_ = 0, group_ = 0, lower_ = 0;
  std::uint32_t step_rows_ = 0, step_groups_ = 0;
};

// The run of one of `blocks` blocks of threads.
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

// What goes up: `images`, then the first items of each image and behind the last, of luma and of colour.
struct ReconstructionPlan {
  std::vector<ReconstructionImage> images;
  std::vector<std::uint64_t> first_luma, first_colour;
  std::size_t bytes = 0;  // of the group's memory, the images' colours included
  bool any_counts = false;

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

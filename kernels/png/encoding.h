// Pixels to the strips of PNG files on a CUDA device, several images in the same launches: the bytes that the
// host's writer makes at level 1 (images/codecs/png/strip_rule.h).
//
//   choose_filters   the filter of each row: a few lanes or a warp a row
//   write_filtered   filtered rows, how often each token occurs, Adler-32: a block a tile of 16 KiB
//   plan_strips      codes, header, sizes, where each tile's bits begin: a block a strip
//   find_repeats     whether ISA-L is to be tried
//   place_strips     where each strip lies in the output
//   pack_strips      bits: a block a tile
//
// CRC-32 is the host's: it is over a chunk, header and all, and of compressed bytes only, of which ISA-L
// takes more than 10 GB/s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"
#include "kernels/png/group.h"

namespace imgpipe {

// One image: 1 to 4 channels, as kernels/cuda_launch.h asks.
struct PngEncodingTask {
  Plane<const Sample8, Device> pixels{};
  std::int64_t strip_rows = 1;  // Writer::strip_rows()
};

class PngEncoding {
 public:
  // Strips have less than 2^30 bytes of filtered rows (Writer::device_form()).
  explicit PngEncoding(const std::vector<PngEncodingTask>& tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

  // Strips lie one behind the other in the group's device memory, of each image and of all, in their order,
  // with less than 16 bytes between them: one copy brings down an image, or the group.
  struct Strip {
    std::size_t offset = 0, bytes = 0;
    std::uint32_t adler = 1;  // of the filtered rows
    bool filtered = false;    // these are the filtered rows: the rule wants ISA-L tried on them
  };
  // Of memory().results_bytes that came down: the strips of image i, top to bottom.
  [[nodiscard]] std::vector<Strip> strips(std::size_t image, const std::byte* results) const;

  // For those who launch the steps (kernels/png/steps.h) one by one.
  [[nodiscard]] png_strips::Group group(std::byte* memory) const;

 private:
  std::vector<png_strips::Picture> pictures_;
  png_strips::GroupLayout layout_;
  GroupMemory memory_;
};

}  // namespace imgpipe

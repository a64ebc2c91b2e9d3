// Encodes pixels as the strips of PNG files on a CUDA device, several images per launch. The bytes are those
// of the host's writer at level 1 (images/codecs/png/strip_rule.h).
//
//   choose_filters   chooses each row's filter: a few lanes or a warp per row
//   write_filtered   writes filtered rows, counts tokens, computes Adler-32: a block per tile of 16 KiB
//   plan_strips      makes codes, headers, sizes, and the offsets of tiles: a block per strip
//   find_repeats     decides whether to try ISA-L
//   place_strips     places each strip in the output
//   pack_strips      writes the bits: a block per tile
//
// The host computes CRC-32, which covers compressed bytes and headers, at more than 10 GB/s (ISA-L).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"
#include "kernels/png/group.h"

namespace imgpipe {

// One image of 1 to 4 channels that meets the requirements of kernels/cuda_launch.h.
struct PngEncodingTask {
  Plane<const Sample8, Device> pixels{};
  std::int64_t strip_rows = 1;  // Writer::strip_rows()
};

class PngEncoding {
 public:
  // Strips must have fewer than 2^30 bytes of filtered rows (Writer::device_form()).
  explicit PngEncoding(const std::vector<PngEncodingTask>& tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

  // The strips of all images are adjacent in the group's device memory, in order, with gaps of less than 16
  // bytes. One copy downloads an image, or the group.
  struct Strip {
    std::size_t offset = 0, bytes = 0;
    std::uint32_t adler = 1;  // of the filtered rows
    bool filtered = false;    // the bytes are the filtered rows, for the host to try ISA-L
  };
  // Returns the strips of image i, top to bottom, from the memory().results_bytes that were downloaded.
  [[nodiscard]] std::vector<Strip> strips(std::size_t image, const std::byte* results) const;

  // For callers that launch the steps (kernels/png/steps.h) individually.
  [[nodiscard]] png_strips::Group group(std::byte* memory) const;

 private:
  std::vector<png_strips::PngImage> pictures_;
  png_strips::GroupLayout layout_;
  GroupMemory memory_;
};

}  // namespace imgpipe

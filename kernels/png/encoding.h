// Pixels to the strips of PNG files on a CUDA device, several images in the same launches: the bytes that the
// host's writer makes at level 1 (images/codecs/png/strip_rule.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"

namespace imgpipe {

// One image: 1 to 4 channels, as kernels/cuda_launch.h asks.
struct PngEncodingTask {
  Plane<const Sample, Device> pixels{};
  std::int64_t strip_rows = 1;  // Writer::strip_rows()
};

class PngEncoding {
 public:
  explicit PngEncoding(std::vector<PngEncodingTask> tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;

  struct Strip {
    std::size_t offset = 0,
                bytes = 0;    // in the group's device memory; an image's strips lie one behind the other
    std::uint32_t adler = 1;  // of the filtered rows
    bool filtered = false;    // these are the filtered rows: the rule wants ISA-L tried on them
  };
  // Of memory().results_bytes that came down: the strips of image i, top to bottom.
  [[nodiscard]] std::vector<Strip> strips(std::size_t image, const std::byte* results) const;

 private:
  std::vector<PngEncodingTask> tasks_;
  GroupMemory memory_;
};

}  // namespace imgpipe

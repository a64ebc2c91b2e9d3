// Pixels to the entropy-coded data of baseline JPEGs on a CUDA device, several images in the same launches:
// the bytes that libjpeg-turbo writes (islow DCT, standard Huffman tables of ITU-T T.81, K.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"
#include "kernels/jpeg/encoding_records.h"

namespace imgpipe {

// One image: a grey plane or interleaved RGB, as kernels/cuda_launch.h asks.
struct JpegEncodingTask {
  Plane<const Sample8, Device> pixels{};
  int quality = 90;            // 1..100, as libjpeg scales its tables by it
  bool halved_colors = false;  // 4:2:0, else 4:4:4
};

class JpegEncoding {
 public:
  explicit JpegEncoding(const std::vector<JpegEncodingTask>& tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  // Of memory().results_bytes that came down: where in the group's device memory image i lies, with stuffing,
  // without markers. 0 bytes: there was no room for it, and the host encodes it. There is room for some more
  // than noise takes: of grey at quality 90 for 0.9 bytes a pixel (photographs: 0.1 to 0.4).
  struct Scan {
    std::size_t offset = 0, bytes = 0;
  };
  [[nodiscard]] Scan scan(std::size_t image, const std::byte* results) const;

 private:
  std::vector<JpegEncodingImage> images_;
  JpegEncodingGroup group_;
  GroupMemory memory_;
};

}  // namespace imgpipe

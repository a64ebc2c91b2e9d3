// Encodes pixels as the entropy-coded data of baseline JPEGs on a CUDA device, several images per launch. The
// bytes are those of libjpeg-turbo (islow DCT, standard Huffman tables of ITU-T T.81, K.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/plane.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"
#include "kernels/jpeg/encoding_records.h"

namespace imgpipe {

// One image: a grey plane or interleaved RGB that meets the requirements of kernels/cuda_launch.h.
struct JpegEncodingTask {
  Plane<const Sample8, Device> pixels{};
  int quality = 90;                // 1..100, scales the tables as in libjpeg
  bool subsampled_chroma = false;  // 4:2:0, otherwise 4:4:4
};

class JpegEncoding {
 public:
  explicit JpegEncoding(const std::vector<JpegEncodingTask>& tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  void write_upload(std::byte* to) const;
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  // Locates the scan of image i, stuffed and without markers, in the group's device memory, given the
  // downloaded memory().results_bytes. 0 bytes: it did not fit, and the host must encode it. The reserved
  // capacity is somewhat more than noise needs: at quality 90, 0.9 bytes per grey pixel (photographs: 0.1 to
  // 0.4).
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

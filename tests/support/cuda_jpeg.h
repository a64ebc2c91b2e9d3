// Runs kernels/jpeg/encoding.h over host images, in device memory filled with garbage.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "images/plane.h"

namespace imgpipe::test {

struct JpegEncodingRequest {
  ConstHostPlane pixels;
  int quality = 90;
  bool subsampled_chroma = false;
};

// Returns the scans of one group in `scans`, empty if they did not fit. The seed determines the garbage after
// rows and in the group's memory; with 0, that memory is uninitialised, for compute-sanitizer's initcheck.
// Returns the error, or "": a CUDA error, an overwritten canary around the group's memory, or changed inputs.
[[nodiscard]] std::string encode_on_cuda(const std::vector<JpegEncodingRequest>& requests, unsigned seed,
                                         std::vector<std::vector<std::byte>>& scans);

}  // namespace imgpipe::test

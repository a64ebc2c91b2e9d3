// Runs kernels/jpeg/encoding.h over host images, in device memory full of rubbish.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "images/plane.h"

namespace imgpipe::test {

struct JpegWish {
  ConstHostPlane pixels;
  int quality = 90;
  bool halved_colors = false;
};

// The scans that one group gives, empty ones where there was no room. What stands behind rows, in the group's
// memory before the launch, depends on the seed; with 0 that memory is as it was allocated, for
// compute-sanitizer's initcheck. Returns "" or what went wrong: a CUDA error, a canary around
// the group's memory that was hit, an upload or pixels that were changed.
[[nodiscard]] std::string encode_on_cuda(const std::vector<JpegWish>& wishes, unsigned seed,
                                         std::vector<std::vector<std::byte>>& scans);

}  // namespace imgpipe::test

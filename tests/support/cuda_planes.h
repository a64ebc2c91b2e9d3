// Planar host images for CUDA functions that tests launch themselves. Only for CUDA builds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/stage.h"
#include "pipeline/compare.h"
#include "pipeline/cuda/cuda_api.h"
#include "tests/support/cuda_backend.h"

namespace imgpipe::test {

inline constexpr int kBins16 = 65536;

using ValueOf = std::function<std::uint32_t(std::int64_t)>;

// A planar image, with each plane filled in the order of its samples.
struct Planes {
  Planes(std::int64_t width, std::int64_t height, int colors, Sample sample, const ValueOf& value = {})
      : type{width, height, colors, false, Layout::planar, sample} {
    for (int c = 0; c < colors; ++c) {
      images.emplace_back(Shape{width, height, 1, sample});
      if (!value) continue;
      for (std::int64_t i = 0; i < width * height; ++i) {
        const std::uint32_t v = value(c * width * height + i);
        if (sample == Sample::u16) {
          images.back().untyped_view().as<Sample16>().data[i] = static_cast<Sample16>(v);
        } else {
          images.back().untyped_view().as<Sample8>().data[i] = static_cast<Sample8>(v);
        }
      }
    }
  }
  Frame<std::byte, Host> frame() {
    Frame<std::byte, Host> all{type, {}};
    for (std::size_t c = 0; c < images.size(); ++c) all.planes[c] = images[c].untyped_view();
    return all;
  }

  FrameType type;
  std::vector<Image> images;
};

inline DeviceWork launched(
    const std::function<CudaStatus(const StageCall<Device>&, const CudaLaunch&)>& function) {
  return [function](const StageCall<Device>& call, const CudaLaunch& launch) {
    IMGPIPE_CUDA(static_cast<cudaError_t>(function(call, launch)));
    return std::string();
  };
}

inline void expect_equal_planes(Planes& expected, Planes& got) {
  const Difference difference = compare_frames(expected.frame(), got.frame());
  ASSERT_TRUE(difference.identical()) << difference.text();
}

}  // namespace imgpipe::test

// Copies from padded rows, as stages make them on a device, to dense arrays, as other libraries expect them.
#pragma once

#include <cstddef>
#include <span>

#include "images/plane.h"
#include "kernels/cuda_launch.h"

namespace imgpipe {

// A dense array of height x width x channels samples, or of channels x height x width if it is `planar`,
// aligned to a sample. `mirrored`: columns are in reverse order.
struct DenseArray {
  std::byte* data = nullptr;
  bool planar = false;
  bool mirrored = false;
};

struct DenseCopy {
  View<const std::byte, Device> from;  // as all CUDA stages require (kernels/cuda_launch.h)
  DenseArray to;
};

// Copies images of any shapes and sample types, asynchronously.
[[nodiscard]] CudaStatus copy_dense(std::span<const DenseCopy> copies, const CudaLaunch& launch);

}  // namespace imgpipe

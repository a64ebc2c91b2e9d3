#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/layout/dense.h"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxCopies = 56;  // 4 KB of kernel parameters

// Units are samples, or 16 bytes of a row.
struct DenseImage {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t from_stride = 0;  // bytes
  std::int64_t units = 0;        // of the whole array
  std::uint32_t row_units = 0;   // of the array's innermost rows
  std::uint32_t height = 0;
  std::uint16_t unit_bytes = 1,
                channels = 1;  // channels that a unit must be gathered from; 1: rows are copied
  bool mirrored = false;
  bool planar = false;
};
struct DenseImages {
  DenseImage images[kMaxCopies];
};
static_assert(sizeof(DenseImages) <= 4096);

// Returns the address of unit `i` of the array in the source rows.
__device__ __forceinline__ const std::byte* source_of(const DenseImage& image, std::int64_t i) {
  const std::int64_t row = i / image.row_units;
  std::int64_t x = i - row * image.row_units;
  if (image.planar) {
    const std::int64_t channel = row / image.height;
    if (image.mirrored) x = image.row_units - 1 - x;
    return image.from + (row - channel * image.height) * image.from_stride +
           (x * image.channels + channel) * image.unit_bytes;
  }
  if (image.mirrored) {
    const std::int64_t pixel = x / image.channels, channel = x - pixel * image.channels;
    x = image.row_units - (pixel + 1) * image.channels + channel;
  }
  return image.from + row * image.from_stride + x * image.unit_bytes;
}

template <class Unit>
__device__ __forceinline__ void copy_units(const DenseImage& image) {
  auto* const to = reinterpret_cast<Unit*>(image.to);
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < image.units;
       i += std::int64_t{gridDim.x} * kThreads)
    to[i] = *reinterpret_cast<const Unit*>(source_of(image, i));
}

// blockIdx.y selects the image. Thread i copies units i, i + n, i + 2n, ... of its array; no shared memory.
__global__ __launch_bounds__(kThreads) void dense_kernel(const __grid_constant__ DenseImages group) {
  const DenseImage& image = group.images[blockIdx.y];
  switch (image.unit_bytes) {
    case 1:
      return copy_units<std::uint8_t>(image);
    case 2:
      return copy_units<std::uint16_t>(image);
    case 4:
      return copy_units<std::uint32_t>(image);
    default:
      return copy_units<uint4>(image);
  }
}

DenseImage dense_image(const DenseCopy& copy) {
  const Shape shape = copy.from.shape();
  DenseImage image{.from = copy.from.data,
                   .to = copy.to.data,
                   .from_stride = copy.from.stride_bytes,
                   .height = static_cast<std::uint32_t>(shape.height),
                   .unit_bytes = static_cast<std::uint16_t>(bytes_per_sample(shape.sample)),
                   .channels = static_cast<std::uint16_t>(shape.channels),
                   .mirrored = copy.to.mirrored,
                   .planar = copy.to.planar && shape.channels > 1};
  constexpr std::int64_t kVector = sizeof(uint4);
  const bool in_vectors = !image.mirrored && !image.planar && shape.row_bytes() % kVector == 0 &&
                          reinterpret_cast<std::uintptr_t>(copy.to.data) % kVector == 0;
  if (in_vectors) {
    image.unit_bytes = kVector;
    image.channels = 1;
  }
  const std::int64_t row_units = image.planar ? shape.width
                                 : in_vectors ? shape.row_bytes() / kVector
                                              : shape.width * shape.channels;
  image.row_units = static_cast<std::uint32_t>(row_units);
  image.units = row_units * shape.height * (image.planar ? shape.channels : 1);
  return image;
}

}  // namespace

CudaStatus copy_dense(std::span<const DenseCopy> copies, const CudaLaunch& launch) {
  constexpr std::int64_t kBlocksEach = 1024;
  while (!copies.empty()) {
    const auto part = copies.first(std::min(copies.size(), kMaxCopies));
    DenseImages group{};
    std::ranges::transform(part, group.images, dense_image);
    std::int64_t units = 1;
    for (std::size_t i = 0; i < part.size(); ++i) units = std::max(units, group.images[i].units);
    const auto blocks = static_cast<unsigned>(std::min((units + kThreads - 1) / kThreads, kBlocksEach));
    dense_kernel<<<dim3(blocks, static_cast<unsigned>(part.size())), kThreads, 0, launch.stream>>>(group);
    if (const CudaStatus status = cudaGetLastError(); status != cudaSuccess) return status;
    copies = copies.subspan(part.size());
  }
  return cudaSuccess;
}

}  // namespace imgpipe

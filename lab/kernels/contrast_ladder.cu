// The CUDA variants of contrast, oldest first; times include a first, one-block kernel that finds lo and hi.
#include <type_traits>

#include "kernels/contrast/contrast.h"
#include "kernels/contrast/wide_stretch.h"
#include "kernels/shared/stretch_block.cuh"
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

__global__ __launch_bounds__(kBins) void range_kernel(Histogram<Device> histogram,
                                                      ContrastParameters parameters, StretchFactor* found) {
  const StretchFactor factor = block_stretch_factor(histogram, parameters, 0);
  if (threadIdx.x == 0) *found = factor;
}

// Finds the least and the greatest of 65,536 values that occur; nothing is clipped. Barriers: lo and hi are
// initialised before the search, and final before the division.
__global__ __launch_bounds__(kMaxBlockThreads) void wide_range_kernel(Histogram<Device> histogram,
                                                                      WideStretch* found) {
  __shared__ int lo;
  __shared__ int hi;
  if (threadIdx.x == 0) {
    lo = kLargest<Sample16>;
    hi = 0;
  }
  __syncthreads();
  for (int bin = static_cast<int>(threadIdx.x); bin <= kLargest<Sample16>; bin += kMaxBlockThreads) {
    if (histogram.data[bin] == 0) continue;
    atomicMin(&lo, bin);
    atomicMax(&hi, bin);
  }
  __syncthreads();
  if (threadIdx.x == 0) *found = wide_stretch<Sample16, Sample16>(lo, hi);
}

template <class T>
using Stretching = std::conditional_t<kIsWide<T>, WideStretch, StretchFactor>;

// Stretches `value` by a division.
template <class T>
__device__ __forceinline__ T divided(std::uint32_t value, const Stretching<T>& f) {
  const auto lo = static_cast<int>(f.lo);
  return stretched<T>(static_cast<int>(value), lo, lo + static_cast<int>(f.span));
}

// One thread per pixel; adjacent threads run down a column. Each thread makes two comparisons and a division.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void naive_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                 const Stretching<T>* range) {
  const std::int64_t y = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (y >= in.height) return;
  for (std::int64_t x = blockIdx.y; x < in.width; x += gridDim.y)
    out.row(y)[x] = divided<T>(in.row(y)[x], *range);
}

template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void coalesced_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                     const Stretching<T>* range) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y)
    out.row(y)[x] = divided<T>(in.row(y)[x], *range);
}

template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void words_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                 const Stretching<T>* range) {
  const Stretching<T> f = *range;
  for (auto at = grid_stride<kWordSamples<T>>(in); at.inside(); at.next()) {
    const std::uint32_t word = load_word(in.row(at.y()) + at.x());
    store_word(out.row(at.y()) + at.x(),
               mapped_word<T>(word, [&f](std::uint32_t value) { return divided<T>(value, f); }), at.left());
  }
}

__device__ __forceinline__ std::uint32_t stretch_word(std::uint32_t word, const WideStretch& f) {
  return mapped_word<Sample16>(word, [&f](std::uint32_t value) { return stretched_value(f, value); });
}

// Clamps v to lo..hi by min and max, then multiplies instead of dividing.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void branch_free_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                       const Stretching<T>* range) {
  const Stretching<T> f = *range;
  for (auto at = grid_stride<kWordSamples<T>>(in); at.inside(); at.next())
    store_word(out.row(at.y()) + at.x(), stretch_word(load_word(in.row(at.y()) + at.x()), f), at.left());
}

// Each block makes a table of all results in shared memory (256 bytes or 128 KiB); each pixel is a lookup.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void table_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                 const Stretching<T>* range) {
  extern __shared__ __align__(4) unsigned char shared_bytes[];
  T* const table = reinterpret_cast<T*>(shared_bytes);
  for (unsigned v = threadIdx.x; v <= static_cast<unsigned>(kLargest<T>); v += blockDim.x)
    table[v] = divided<T>(v, *range);
  __syncthreads();
  for (auto at = grid_stride<kWordSamples<T>>(in); at.inside(); at.next()) {
    const std::uint32_t word = load_word(in.row(at.y()) + at.x());
    store_word(out.row(at.y()) + at.x(),
               mapped_word<T>(word, [table](std::uint32_t value) { return table[value]; }), at.left());
  }
}

void find_range(const StageCall<Device>& call, const VariantLaunch& launch, StretchFactor* found) {
  range_kernel<<<1, kBins, 0, launch.stream>>>(call.histogram, ContrastParameters(call.parameters), found);
}
void find_range(const StageCall<Device>& call, const VariantLaunch& launch, WideStretch* found) {
  wide_range_kernel<<<1, kMaxBlockThreads, 0, launch.stream>>>(call.histogram, found);
}

template <class T>
CudaStatus launch_contrast(void (*kernel)(SourceOf<T>, TargetOf<T>, const Stretching<T>*),
                           const LaunchGrid& grid, const StageCall<Device>& call,
                           const VariantLaunch& launch) {
  auto* found = static_cast<Stretching<T>*>(launch.scratch);
  find_range(call, launch, found);
  return launch_pixels(kernel, grid, call, launch, found);
}

}  // namespace

std::size_t contrast_range_bytes(const FrameType&, const VariantLaunch&) {
  return sizeof(WideStretch) > sizeof(StretchFactor) ? sizeof(WideStretch) : sizeof(StretchFactor);
}

CudaStatus contrast_naive(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_contrast<T>(naive_kernel<T>, covering_columns(call, launch), call, launch);
  });
}

CudaStatus contrast_coalesced(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_contrast<T>(coalesced_kernel<T>, covering(call, launch), call, launch);
  });
}

CudaStatus contrast_words(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_contrast<T>(words_kernel<T>, striding(launch), call, launch);
  });
}

CudaStatus contrast_branch_free(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_contrast<T>(branch_free_kernel<T>, striding(launch), call, launch);
  });
}

CudaStatus contrast_table(const StageCall<Device>& call, const VariantLaunch& launch) {
  if (!is_wide(call.in.type.sample)) {
    LaunchGrid grid = striding(launch);
    grid.shared_bytes = kBins;
    return launch_contrast<Sample8>(table_kernel<Sample8>, grid, call, launch);
  }
  const cudaError_t allowed = cudaFuncSetAttribute(
      table_kernel<Sample16>, cudaFuncAttributeMaxDynamicSharedMemorySize, kContrastTableBytes);
  if (allowed != cudaSuccess) return allowed;
  LaunchGrid grid = striding(launch, kMaxBlockThreads, 1);
  grid.shared_bytes = kContrastTableBytes;
  return launch_contrast<Sample16>(table_kernel<Sample16>, grid, call, launch);
}

}  // namespace imgpipe

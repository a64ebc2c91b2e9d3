// The CUDA rungs of contrast, oldest first; contrast_ladder.cpp tells their story. All but the last begin
// with a kernel of one block that finds lo and hi, and are timed with it.
#include "kernels/contrast/stretch_block.cuh"
#include "kernels/lab/contrast_ladder.h"
#include "kernels/lab/ladder.cuh"

namespace imgpipe {
namespace {

__global__ __launch_bounds__(kBins) void range_kernel(Histogram<Device> histogram,
                                                      ContrastParameters parameters, StretchFactor* found) {
  const StretchFactor factor = block_stretch_factor(histogram, parameters, 0);
  if (threadIdx.x == 0) *found = factor;
}

// A thread a pixel, down a column; two comparisons and a division.
__global__ __launch_bounds__(kMostBlockThreads) void naive_kernel(Source in, Target out,
                                                                  const StretchFactor* range) {
  const std::int64_t y = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (y >= in.height) return;
  for (std::int64_t x = blockIdx.y; x < in.width; x += gridDim.y)
    out.row(y)[x] = stretched(in.row(y)[x], range->lo, range->lo + range->span);
}

__global__ __launch_bounds__(kMostBlockThreads) void coalesced_kernel(Source in, Target out,
                                                                      const StretchFactor* range) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y)
    out.row(y)[x] = stretched(in.row(y)[x], range->lo, range->lo + range->span);
}

__global__ __launch_bounds__(kMostBlockThreads) void words_kernel(Source in, Target out,
                                                                  const StretchFactor* range) {
  const StretchFactor f = *range;
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    const std::uint32_t word = load_word(in.row(at.y()) + at.x());
    std::uint32_t result = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      result |= std::uint32_t{stretched(static_cast<int>((word >> (8 * k)) & 0xFF), f.lo, f.lo + f.span)}
                << (8 * k);
    store_word(out.row(at.y()) + at.x(), result, at.left());
  }
}

// v held between lo and hi by min and max, then one multiplication in place of the division.
__global__ __launch_bounds__(kMostBlockThreads) void branch_free_kernel(Source in, Target out,
                                                                        const StretchFactor* range) {
  const StretchFactor f = *range;
  for (auto at = grid_stride<4>(in); at.inside(); at.next())
    store_word(out.row(at.y()) + at.x(), stretch_word(load_word(in.row(at.y()) + at.x()), f), at.left());
}

// Each block makes a table of all 256 answers in shared memory (256 bytes); then a pixel is a look-up.
__global__ __launch_bounds__(kMostBlockThreads) void table_kernel(Source in, Target out,
                                                                  const StretchFactor* range) {
  __shared__ Sample table[kBins];
  for (unsigned v = threadIdx.x; v < kBins; v += blockDim.x)
    table[v] = stretched(static_cast<int>(v), range->lo, range->lo + range->span);
  __syncthreads();
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    const std::uint32_t word = load_word(in.row(at.y()) + at.x());
    std::uint32_t result = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) result |= std::uint32_t{table[(word >> (8 * k)) & 0xFF]} << (8 * k);
    store_word(out.row(at.y()) + at.x(), result, at.left());
  }
}

const StretchFactor* find_range(const StageCall<Device>& call, const RungLaunch& launch) {
  auto* found = static_cast<StretchFactor*>(launch.scratch);
  range_kernel<<<1, kBins, 0, launch.stream>>>(call.histogram, ContrastParameters(call.parameters), found);
  return found;
}

template <auto Kernel>
CudaStatus launch_striding(const StageCall<Device>& call, const RungLaunch& launch) {
  const StretchFactor* range = find_range(call, launch);
  Kernel<<<striding_blocks(launch, kResident), block_of(launch, kBlock), 0, launch.stream>>>(
      call.in.plane<Sample>(0), call.out.plane<Sample>(0), range);
  return cudaGetLastError();
}

}  // namespace

std::size_t contrast_range_bytes(const FrameType&, const RungLaunch&) {
  return sizeof(StretchFactor);
}

CudaStatus contrast_naive(const StageCall<Device>& call, const RungLaunch& launch) {
  const StretchFactor* range = find_range(call, launch);
  const unsigned block = block_of(launch, kBlock);
  naive_kernel<<<column_grid(call.in.type, block), block, 0, launch.stream>>>(
      call.in.plane<Sample>(0), call.out.plane<Sample>(0), range);
  return cudaGetLastError();
}

CudaStatus contrast_coalesced(const StageCall<Device>& call, const RungLaunch& launch) {
  const StretchFactor* range = find_range(call, launch);
  const unsigned block = block_of(launch, kBlock);
  coalesced_kernel<<<covering_grid(call.in.type, 1, block), block, 0, launch.stream>>>(
      call.in.plane<Sample>(0), call.out.plane<Sample>(0), range);
  return cudaGetLastError();
}

CudaStatus contrast_words(const StageCall<Device>& call, const RungLaunch& launch) {
  return launch_striding<words_kernel>(call, launch);
}
CudaStatus contrast_branch_free(const StageCall<Device>& call, const RungLaunch& launch) {
  return launch_striding<branch_free_kernel>(call, launch);
}
CudaStatus contrast_table(const StageCall<Device>& call, const RungLaunch& launch) {
  return launch_striding<table_kernel>(call, launch);
}

}  // namespace imgpipe

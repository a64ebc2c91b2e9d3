// The CUDA variants of hist without atomic additions: one block per value, and byte counters per thread.
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

using Counts = Histogram<Device>;

// ---- one block per value -------------------------------------------------------------------------------

// Returns the sum of `value` over the block, in thread 0. Shared memory: one word per warp. Barriers: the
// words are complete before they are added, and read before the next call writes them.
__device__ std::uint32_t block_sum(std::uint32_t value) {
  __shared__ std::uint32_t warp_sums[kWarpLanes];
  for (int step = kWarpLanes / 2; step > 0; step /= 2) value += __shfl_down_sync(0xFFFFFFFF, value, step);
  if (threadIdx.x % kWarpLanes == 0) warp_sums[threadIdx.x / kWarpLanes] = value;
  __syncthreads();
  std::uint32_t sum = 0;
  if (threadIdx.x == 0) {
    for (unsigned warp = 0; warp < blockDim.x / kWarpLanes; ++warp) sum += warp_sums[warp];
  }
  __syncthreads();
  return sum;
}

// One block per value reads the whole image and counts that value's pixels in registers, 4 at a time.
__global__ __launch_bounds__(kMaxBlockThreads) void linear_kernel(Source in, Counts counts) {
  for (unsigned bin = blockIdx.x; bin < kBins; bin += gridDim.x) {
    const std::uint32_t wanted = bin * 0x01010101U;
    std::uint32_t count = 0;
    for (ItemWalk<4> at(in, threadIdx.x, blockDim.x); at.inside(); at.next()) {
      // 0xFF in each byte that is equal: 8 bits per pixel.
      std::uint32_t equal = __vcmpeq4(load_word(in.row(at.y()) + at.x()), wanted);
      if (at.left() < 4) equal &= (1U << (8 * at.left())) - 1;
      count += static_cast<std::uint32_t>(__popc(equal));
    }
    // 2^32 / 8 pixels per thread fit: at least 32 threads share the image's 2^32 pixels.
    const std::uint32_t sum = block_sum(count / 8);
    if (threadIdx.x == 0) counts.data[bin] = sum;
  }
}

// ---- byte counters per thread --------------------------------------------------------------------------

// Each thread has byte counters in shared memory, so that nothing is atomic. 128 threads share the 128 bytes
// of a bin's row: the 32 lanes of a warp use 32 banks, and four warps the four bytes of a word:
//
//   byte = bin * columns + lane * 4 + warp % 4 (+ 128 for each further four warps)
//
// The block adds up its rows before a byte can exceed 255. Dynamic shared memory: Bins * columns.
constexpr int kColumnThreads = 128;
constexpr int kPixelsARound = 252;  // a multiple of 4

__host__ __device__ constexpr unsigned columns_of(unsigned threads) {
  return (threads + kColumnThreads - 1) / kColumnThreads * kColumnThreads;
}

// One thread adds the bytes of a bin's row, 4 at a time. It begins at its own word to use its own bank.
__device__ std::uint32_t row_sum(const std::uint32_t* row, unsigned words) {
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < words; ++i) sum = __dp4a(row[(i + threadIdx.x) % words], 0x01010101U, sum);
  return sum;
}

// `partials` has a histogram of Bins counters per block. Barriers: rows are cleared before they are counted
// in, complete before they are added up, and added up before they are cleared again.
template <int Bins>
__global__ __launch_bounds__(kMaxBlockThreads) void threads_kernel(Source in, std::uint32_t* partials) {
  extern __shared__ std::uint32_t rows[];
  const unsigned columns = columns_of(blockDim.x);
  const unsigned row_words = columns / 4;
  auto* bytes = reinterpret_cast<unsigned char*>(rows);
  const unsigned lane = threadIdx.x % kWarpLanes;
  const unsigned warp = threadIdx.x / kWarpLanes;
  const unsigned own = warp / 4 * kColumnThreads + lane * 4 + warp % 4;
  constexpr int kShift = Bins == kBins ? 0 : 2;
  static_assert(Bins << kShift == kBins);
  std::uint32_t* partial = partials + std::size_t{blockIdx.x} * Bins;
  for (unsigned bin = threadIdx.x; bin < Bins; bin += blockDim.x) partial[bin] = 0;
  auto at = grid_stride<4>(in);
  while (__syncthreads_or(at.inside() ? 1 : 0) != 0) {
    for (unsigned i = threadIdx.x; i < Bins * row_words; i += blockDim.x) rows[i] = 0;
    __syncthreads();
    for (int counted = 0; counted < kPixelsARound && at.inside(); counted += 4, at.next()) {
      std::uint32_t word = load_word(in.row(at.y()) + at.x());
      for (int k = pixels_in_item(at.left(), 4); k > 0; --k, word >>= 8)
        ++bytes[((word & 0xFF) >> kShift) * columns + own];
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < Bins; bin += blockDim.x)
      partial[bin] += row_sum(rows + bin * row_words, row_words);
  }
}

// One block per bin: adds up the blocks' histograms.
__global__ __launch_bounds__(kBlock) void merge_kernel(const std::uint32_t* partials, unsigned blocks,
                                                       int bins, Counts counts) {
  std::uint32_t count = 0;
  for (unsigned block = threadIdx.x; block < blocks; block += blockDim.x)
    count += partials[std::size_t{block} * static_cast<unsigned>(bins) + blockIdx.x];
  const std::uint32_t sum = block_sum(count);
  if (threadIdx.x == 0) counts.data[blockIdx.x] = sum;
}

template <int Bins>
constexpr int kThreadsBlock = Bins == kBins ? 128 : 512;  // 32 KiB of shared memory either way
template <int Bins>
unsigned threads_blocks(const VariantLaunch& launch) {
  return striding_blocks(launch, Bins == kBins ? 6 : 4);
}

template <int Bins>
CudaStatus launch_threads(const StageCall<Device>& call, const VariantLaunch& launch) {
  const CudaStatus cleared = clear_histogram(call, launch);
  if (cleared != cudaSuccess) return cleared;
  const unsigned block = block_of(launch, kThreadsBlock<Bins>);
  const unsigned blocks = threads_blocks<Bins>(launch);
  auto* partials = static_cast<std::uint32_t*>(launch.scratch);
  threads_kernel<Bins>
      <<<blocks, block, Bins * columns_of(block), launch.stream>>>(call.in.plane<Sample8>(0), partials);
  merge_kernel<<<Bins, kBlock, 0, launch.stream>>>(partials, blocks, Bins, call.histogram);
  return cudaGetLastError();
}

}  // namespace

CudaStatus hist_linear(const StageCall<Device>& call, const VariantLaunch& launch) {
  const unsigned blocks = launch.blocks > 0 ? static_cast<unsigned>(launch.blocks) : kBins;
  return launch_counts(linear_kernel, {blocks, block_of(launch, kMaxBlockThreads)}, call, launch);
}

CudaStatus hist_threads_64(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_threads<64>(call, launch);
}
CudaStatus hist_threads_256(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_threads<kBins>(call, launch);
}
std::size_t hist_threads_64_bytes(const FrameType&, const VariantLaunch& launch) {
  return threads_blocks<64>(launch) * std::size_t{64} * sizeof(std::uint32_t);
}
std::size_t hist_threads_256_bytes(const FrameType&, const VariantLaunch& launch) {
  return threads_blocks<kBins>(launch) * std::size_t{kBins} * sizeof(std::uint32_t);
}

}  // namespace imgpipe

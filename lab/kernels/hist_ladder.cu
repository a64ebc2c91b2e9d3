// The CUDA variants of hist with atomic additions, oldest first; times include clearing the counters.
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

using Counts = Histogram<Device>;

// ---- one histogram in global memory -------------------------------------------------------------------

// One thread per pixel.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void global_kernel(SourceOf<T> in, Counts counts) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y) add_to(counts.data + in.row(y)[x], 1);
}

// The grid strides over the pixels.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void global_stride_kernel(SourceOf<T> in, Counts counts) {
  for (auto at = grid_stride<1>(in); at.inside(); at.next()) add_to(counts.data + in.row(at.y())[at.x()], 1);
}

// Each thread handles a contiguous run of pixels, so the lanes of a warp read far apart.
__global__ __launch_bounds__(kMaxBlockThreads) void global_chunk_kernel(Source in, Counts counts) {
  auto [at, count] = chunk_of_thread<1>(in);
  for (; count > 0; --count, at.next()) add_to(counts.data + in.row(at.y())[at.x()], 1);
}

// Like global_chunk_kernel(), but with 4 bytes per load.
__global__ __launch_bounds__(kMaxBlockThreads) void global_words_kernel(Source in, Counts counts) {
  auto [at, count] = chunk_of_thread<4>(in);
  for (; count > 0; --count, at.next()) {
    std::uint32_t word = load_word(in.row(at.y()) + at.x());
    for (int k = pixels_in_item(at.left(), 4); k > 0; --k, word >>= 8) add_to(counts.data + (word & 0xFF), 1);
  }
}

// ---- counters per thread ------------------------------------------------------------------------------

// Each thread has 256 counters, too many for registers, in local memory, and adds them to the global ones.
__global__ __launch_bounds__(kMaxBlockThreads) void local_kernel(Source in, Counts counts) {
  std::uint32_t own[kBins] = {};
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    std::uint32_t word = load_word(in.row(at.y()) + at.x());
    for (int k = pixels_in_item(at.left(), 4); k > 0; --k, word >>= 8) ++own[word & 0xFF];
  }
  for (unsigned i = 0; i < kBins; ++i) {
    const unsigned bin = (i + threadIdx.x) % kBins;  // threads begin at different bins
    if (own[bin] > 0) add_to(counts.data + bin, own[bin]);
  }
}

__device__ void clear_bins(std::uint32_t* shared, unsigned count) {
  for (unsigned bin = threadIdx.x; bin < count; bin += blockDim.x) shared[bin] = 0;
  __syncthreads();
}

// Begins with a barrier, so that all counts of the block are complete.
__device__ void flush_bins(const std::uint32_t* shared, std::uint64_t* counts) {
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    if (shared[bin] > 0) add_to(counts + bin, shared[bin]);
  }
}

// Like local_kernel(), but sums in shared memory (1 KiB) first: one global addition per block and bin.
__global__ __launch_bounds__(kMaxBlockThreads) void local_reduced_kernel(Source in, Counts counts) {
  __shared__ std::uint32_t shared[kBins];
  clear_bins(shared, kBins);
  std::uint32_t own[kBins] = {};
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    std::uint32_t word = load_word(in.row(at.y()) + at.x());
    for (int k = pixels_in_item(at.left(), 4); k > 0; --k, word >>= 8) ++own[word & 0xFF];
  }
  for (unsigned i = 0; i < kBins; ++i) {
    const unsigned bin = (i + threadIdx.x) % kBins;
    if (own[bin] > 0) atomicAdd(shared + bin, own[bin]);
  }
  flush_bins(shared, counts.data);
}

// ---- one histogram per block, in shared memory --------------------------------------------------------

// Shared memory: 1 KiB.
__global__ __launch_bounds__(kMaxBlockThreads) void shared_kernel(Source in, Counts counts) {
  __shared__ std::uint32_t shared[kBins];
  clear_bins(shared, kBins);
  for (auto at = grid_stride<1>(in); at.inside(); at.next()) atomicAdd(shared + in.row(at.y())[at.x()], 1U);
  flush_bins(shared, counts.data);
}

// Like shared_kernel(), but with 4 pixels per load. Without Atomic, counts are lost if another thread changes
// a counter between this thread's load and store.
template <bool Atomic>
__global__ __launch_bounds__(kMaxBlockThreads) void shared_words_kernel(Source in, Counts counts) {
  __shared__ std::uint32_t shared[kBins];
  clear_bins(shared, kBins);
  volatile std::uint32_t* plain = shared;
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    std::uint32_t word = load_word(in.row(at.y()) + at.x());
    for (int k = pixels_in_item(at.left(), 4); k > 0; --k, word >>= 8) {
      if (Atomic) {
        atomicAdd(shared + (word & 0xFF), 1U);
      } else {
        plain[word & 0xFF] = plain[word & 0xFF] + 1;
      }
    }
  }
  flush_bins(shared, counts.data);
}

// Calls count(value) for the pixels of a 16-byte load.
template <class Count>
__device__ __forceinline__ void each_of_vector(const Sample8* from, std::int64_t left, const Count& count) {
  const uint4 vector = load_vector(from);
  const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
  if (left >= kVectorPixels) {
#pragma unroll
    for (int k = 0; k < kVectorPixels; ++k) count(byte_of(words, k));
    return;
  }
#pragma unroll
  for (int k = 0; k < kVectorPixels; ++k) {
    if (k < left) count(byte_of(words, k));
  }
}

__global__ __launch_bounds__(kMaxBlockThreads) void shared_vectors_kernel(Source in, Counts counts) {
  __shared__ std::uint32_t shared[kBins];
  clear_bins(shared, kBins);
  for (auto at = grid_stride<kVectorPixels>(in); at.inside(); at.next()) {
    each_of_vector(in.row(at.y()) + at.x(), at.left(),
                   [&](std::uint32_t value) { atomicAdd(shared + value, 1U); });
  }
  flush_bins(shared, counts.data);
}

// ---- several histograms per block ---------------------------------------------------------------------

// Adds up `copies` histograms; counter `bin` of copy c is shared[bin * bin_step + c * copy_step].
__device__ void flush_copies(const std::uint32_t* shared, unsigned copies, unsigned bin_step,
                             unsigned copy_step, std::uint64_t* counts) {
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    std::uint32_t sum = 0;
    for (unsigned copy = 0; copy < copies; ++copy) sum += shared[bin * bin_step + copy * copy_step];
    if (sum > 0) add_to(counts + bin, sum);
  }
}

// One copy for every 4 lanes. Copies follow each other, each one word longer than 256, so that a value's
// counters lie in different banks. Shared memory: 8.03 KiB.
constexpr unsigned kCopies = 8;
constexpr unsigned kCopyStride = kBins + 1;
__global__ __launch_bounds__(kMaxBlockThreads) void replicated_kernel(Source in, Counts counts) {
  __shared__ std::uint32_t shared[kCopies * kCopyStride];
  clear_bins(shared, kCopies * kCopyStride);
  std::uint32_t* copy = shared + threadIdx.x % kWarpLanes / (kWarpLanes / kCopies) * kCopyStride;
  for (auto at = grid_stride<kVectorPixels>(in); at.inside(); at.next()) {
    each_of_vector(in.row(at.y()) + at.x(), at.left(),
                   [&](std::uint32_t value) { atomicAdd(copy + value, 1U); });
  }
  flush_copies(shared, kCopies, 1, kCopyStride, counts.data);
}

// Four adjacent counters per value, used in turn by neighbouring lanes. Shared memory: 4 KiB.
constexpr unsigned kColumns = 4;
__global__ __launch_bounds__(kMaxBlockThreads) void columns_kernel(Source in, Counts counts) {
  __shared__ std::uint32_t shared[kColumns * kBins];
  clear_bins(shared, kColumns * kBins);
  std::uint32_t* column = shared + threadIdx.x % kColumns;
  for (auto at = grid_stride<kVectorPixels>(in); at.inside(); at.next()) {
    each_of_vector(in.row(at.y()) + at.x(), at.left(),
                   [&](std::uint32_t value) { atomicAdd(column + value * kColumns, 1U); });
  }
  flush_copies(shared, kColumns, kColumns, 1, counts.data);
}

// Four pixels per thread in 3 loads; three histograms of four columns each. Shared memory: 12 KiB.
__global__ __launch_bounds__(kMaxBlockThreads) void rgb_kernel(Source in, Counts counts) {
  constexpr unsigned kPlane = kColumns * kBins;
  __shared__ std::uint32_t shared[3 * kPlane];
  clear_bins(shared, 3 * kPlane);
  std::uint32_t* column = shared + threadIdx.x % kColumns;
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    const Sample8* from = in.row(at.y()) + 3 * at.x();
    const std::uint32_t words[3] = {load_word(from), load_word(from + 4), load_word(from + 8)};
    const int samples = 3 * pixels_in_item(at.left(), 4);
#pragma unroll
    for (int k = 0; k < 12; ++k) {
      if (k < samples)
        atomicAdd(column + static_cast<unsigned>(k % 3) * kPlane + byte_of(words, k) * kColumns, 1U);
    }
  }
  for (int c = 0; c < 3; ++c)
    flush_copies(shared + static_cast<unsigned>(c) * kPlane, kColumns, kColumns, 1, counts.row(c));
}

}  // namespace

CudaStatus hist_global(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_counts(global_kernel<T>, covering(call, launch), call, launch);
  });
}

CudaStatus hist_global_stride(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_counts(global_stride_kernel<T>, striding(launch), call, launch);
  });
}

CudaStatus hist_global_chunk(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(global_chunk_kernel, striding(launch), call, launch);
}

CudaStatus hist_global_words(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(global_words_kernel, striding(launch), call, launch);
}

CudaStatus hist_local(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(local_kernel, striding(launch, kBlock, 2), call, launch);
}

CudaStatus hist_local_reduced(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(local_reduced_kernel, striding(launch, kBlock, 2), call, launch);
}

CudaStatus hist_shared(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(shared_kernel, striding(launch), call, launch);
}

CudaStatus hist_shared_words(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(shared_words_kernel<true>, striding(launch), call, launch);
}

CudaStatus hist_non_atomic(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(shared_words_kernel<false>, striding(launch), call, launch);
}

CudaStatus hist_shared_vectors(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(shared_vectors_kernel, striding(launch), call, launch);
}

CudaStatus hist_replicated(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(replicated_kernel, striding(launch), call, launch);
}

CudaStatus hist_columns(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(columns_kernel, striding(launch), call, launch);
}

CudaStatus hist_rgb(const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_counts(rgb_kernel, striding(launch), call, launch);
}

}  // namespace imgpipe

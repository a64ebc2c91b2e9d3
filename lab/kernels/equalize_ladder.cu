// The CUDA variants of equalize, oldest first; times include the first kernel, which prepares the second.
#include <cooperative_groups.h>

#include "kernels/equalize/equalize.h"
#include "kernels/equalize/table_block.cuh"
#include "kernels/hist/hist.h"
#include "kernels/shared/shared_counters.cuh"
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

// The contents of the scratch memory.
struct Found {
  std::uint64_t counts[kBins];     // for variants that count
  std::uint64_t not_above[kBins];  // samples up to each value, without those of the least value
  std::uint64_t others;            // samples above the least value
  Sample8 table[kBins];
};

__device__ __forceinline__ Sample8 becomes(const Found& found, unsigned value) {
  if (found.others == 0) return static_cast<Sample8>(value);
  return static_cast<Sample8>(
      equalized(found.not_above[value], equalize_scale(kMaxSample, found.others), kMaxSample));
}

// One thread sums the counts and, if `table`, makes the table.
__global__ void serial_kernel(Histogram<Device> histogram, Found* found, bool table) {
  const std::uint64_t* counts = histogram.data;
  unsigned least = 0;
  while (least < kBins - 1 && counts[least] == 0) ++least;
  std::uint64_t sum = 0;
  for (unsigned v = 0; v < kBins; ++v) {
    if (v > least) sum += counts[v];
    found->not_above[v] = sum;
  }
  found->others = sum;
  if (!table) return;
  for (unsigned v = 0; v < kBins; ++v) found->table[v] = becomes(*found, v);
}

// One block, one thread per value. The barrier is in block_equalize_table().
__global__ __launch_bounds__(kBins) void scan_kernel(const std::uint64_t* counts, Sample8* to) {
  __shared__ Sample8 table[kBins];
  block_equalize_table(counts, table);
  to[threadIdx.x] = table[threadIdx.x];
}

// One thread per pixel, one division each.
__global__ __launch_bounds__(kMaxBlockThreads) void division_kernel(Source in, Target out,
                                                                    const Found* found) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y)
    out.row(y)[x] = becomes(*found, in.row(y)[x]);
}

// ---- where the table is stored -----------------------------------------------------------------------

// Four pixels per thread; look(value) returns the mapped value.
template <class Look>
__device__ __forceinline__ void look_up_words(const Source& in, const Target& out, const Look& look) {
  for (auto at = grid_stride<4>(in); at.inside(); at.next())
    store_word(out.row(at.y()) + at.x(), mapped_word<Sample8>(load_word(in.row(at.y()) + at.x()), look),
               at.left());
}

// 16 pixels per thread.
template <class Look>
__device__ __forceinline__ void look_up_vectors(const Source& in, const Target& out, const Look& look) {
  for (auto at = grid_stride<kVectorPixels>(in); at.inside(); at.next()) {
    const uint4 vector = load_vector(in.row(at.y()) + at.x());
    const std::uint32_t words[4] = {
        mapped_word<Sample8>(vector.x, look), mapped_word<Sample8>(vector.y, look),
        mapped_word<Sample8>(vector.z, look), mapped_word<Sample8>(vector.w, look)};
    store_vector(out.row(at.y()) + at.x(), words, at.left());
  }
}

__global__ __launch_bounds__(kMaxBlockThreads) void global_kernel(Source in, Target out,
                                                                  const Sample8* table) {
  look_up_words(in, out, [table](std::uint32_t value) { return __ldg(table + value); });
}

__constant__ Sample8 constant_table[kBins];
__global__ __launch_bounds__(kMaxBlockThreads) void constant_kernel(Source in, Target out, const Sample8*) {
  look_up_words(in, out, [](std::uint32_t value) { return constant_table[value]; });
}

// Shared memory: the table, 256 bytes. Barrier: the table is copied before the first lookup.
template <bool Vectors>
__global__ __launch_bounds__(kMaxBlockThreads) void shared_kernel(Source in, Target out,
                                                                  const Sample8* table) {
  __shared__ Sample8 own[kBins];
  for (unsigned v = threadIdx.x; v < kBins; v += blockDim.x) own[v] = table[v];
  __syncthreads();
  const auto look = [&](std::uint32_t value) { return own[value]; };
  if (Vectors) {
    look_up_vectors(in, out, look);
  } else {
    look_up_words(in, out, look);
  }
}

// ---- counting included ---------------------------------------------------------------------------------

// All blocks are resident at once. Shared memory: the counters (32 KiB), then the table. Block barriers:
// counters are cleared before the first count, and complete before they are summed. Grid barrier: all blocks
// have added their counters before any makes its table.
__global__ __launch_bounds__(kBins) void cooperative_kernel(Source in, Target out, std::uint64_t* counts) {
  __shared__ __align__(16) std::uint32_t own[kSharedCounters];
  __shared__ Sample8 table[kBins];
  clear_counters(own);
  __syncthreads();
  for (auto at = grid_stride<kVectorPixels>(in); at.inside(); at.next()) {
    const uint4 vector = load_vector(in.row(at.y()) + at.x());
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    count_vector(own, words, at.left());
  }
  __syncthreads();
  flush_counters(own, counts);
  cooperative_groups::this_grid().sync();
  block_equalize_table(counts, table);
  look_up_vectors(in, out, [&](std::uint32_t value) { return table[value]; });
}

Found* found_of(const VariantLaunch& launch) {
  return static_cast<Found*>(launch.scratch);
}

using Kernel = void (*)(Source, Target, const Sample8*);

CudaStatus look_up(Kernel kernel, const StageCall<Device>& call, const VariantLaunch& launch) {
  return launch_pixels(kernel, striding(launch), call, launch, found_of(launch)->table);
}

CudaStatus scan_and_look_up(Kernel kernel, const std::uint64_t* counts, const StageCall<Device>& call,
                            const VariantLaunch& launch) {
  scan_kernel<<<1, kBins, 0, launch.stream>>>(counts, found_of(launch)->table);
  return look_up(kernel, call, launch);
}

}  // namespace

std::size_t equalize_scratch_bytes(const FrameType&, const VariantLaunch&) {
  return sizeof(Found);
}

CudaStatus equalize_division(const StageCall<Device>& call, const VariantLaunch& launch) {
  serial_kernel<<<1, 1, 0, launch.stream>>>(call.histogram, found_of(launch), false);
  return launch_pixels(division_kernel, covering(call, launch), call, launch, found_of(launch));
}

CudaStatus equalize_serial_table(const StageCall<Device>& call, const VariantLaunch& launch) {
  serial_kernel<<<1, 1, 0, launch.stream>>>(call.histogram, found_of(launch), true);
  return look_up(global_kernel, call, launch);
}

CudaStatus equalize_scan_table(const StageCall<Device>& call, const VariantLaunch& launch) {
  return scan_and_look_up(global_kernel, call.histogram.data, call, launch);
}

CudaStatus equalize_constant(const StageCall<Device>& call, const VariantLaunch& launch) {
  scan_kernel<<<1, kBins, 0, launch.stream>>>(call.histogram.data, found_of(launch)->table);
  const cudaError_t copied = cudaMemcpyToSymbolAsync(constant_table, found_of(launch)->table, kBins, 0,
                                                     cudaMemcpyDeviceToDevice, launch.stream);
  return copied != cudaSuccess ? copied : look_up(constant_kernel, call, launch);
}

CudaStatus equalize_shared(const StageCall<Device>& call, const VariantLaunch& launch) {
  return scan_and_look_up(shared_kernel<false>, call.histogram.data, call, launch);
}

CudaStatus equalize_vectors(const StageCall<Device>& call, const VariantLaunch& launch) {
  return scan_and_look_up(shared_kernel<true>, call.histogram.data, call, launch);
}

CudaStatus equalize_counted(const StageCall<Device>& call, const VariantLaunch& launch) {
  StageCall<Device> counting{};
  counting.in = call.in;
  counting.histogram = histogram_view<Device>(found_of(launch)->counts, call.in.type);
  if (const CudaStatus counted = hist_cuda(counting, launch); counted != cudaSuccess) return counted;
  return scan_and_look_up(shared_kernel<true>, found_of(launch)->counts, call, launch);
}

CudaStatus equalize_cooperative(const StageCall<Device>& call, const VariantLaunch& launch) {
  std::uint64_t* counts = found_of(launch)->counts;
  if (const cudaError_t cleared = cudaMemsetAsync(counts, 0, sizeof(Found::counts), launch.stream);
      cleared != cudaSuccess)
    return cleared;
  int resident = 0;
  if (const cudaError_t found =
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, cooperative_kernel, kBins, 0);
      found != cudaSuccess)
    return found;
  Source in = call.in.plane<Sample8>(0);
  Target out = call.out.plane<Sample8>(0);
  void* arguments[] = {&in, &out, &counts};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(cooperative_kernel),
                                     static_cast<unsigned>(resident * launch.multiprocessors), kBins,
                                     arguments, 0, launch.stream);
}

}  // namespace imgpipe

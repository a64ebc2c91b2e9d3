// The launches of a JPEG encoding, and the kernels that sum over an image's runs and join them.
#include <cuda_runtime.h>

#include "kernels/jpeg/encoding.h"
#include "kernels/jpeg/encoding_run.cuh"

namespace imgpipe {
namespace {

constexpr int kSumThreads = 512;
constexpr int kJoinThreads = 128;

template <class T>
__device__ T* at(std::byte* memory, std::uint64_t offset) {
  return reinterpret_cast<T*>(memory + offset);
}

// Passes the exclusive sums of value(run) over an image's runs to keep(run, sum); returns the total. Two
// barriers per kSumThreads runs: the warps' sums are complete; all threads have read them.
template <class Value, class Keep>
__device__ std::uint64_t sum_runs(const JpegEncodingImage& image, const Value& value, const Keep& keep) {
  __shared__ std::uint64_t warp_sums[kSumThreads / kWarpLanes];
  const std::uint32_t lane = threadIdx.x % kWarpLanes;
  const std::uint32_t warp = threadIdx.x / kWarpLanes;
  std::uint64_t all = 0;
  for (std::uint32_t first = 0; first < image.runs; first += kSumThreads) {
    const std::uint32_t i = first + threadIdx.x;
    const std::uint64_t mine = i < image.runs ? value(image.first_run + i) : 0;
    std::uint64_t sum = sum_to_lane(mine);
    if (lane == kWarpLanes - 1) warp_sums[warp] = sum;
    __syncthreads();
    std::uint64_t before = all;
    for (std::uint32_t w = 0; w < kSumThreads / kWarpLanes; ++w) {
      if (w < warp) before += warp_sums[w];
      all += warp_sums[w];
    }
    if (i < image.runs) keep(image.first_run + i, before + sum - mine);
    __syncthreads();
  }
  return all;
}

// One block of threads per image: computes where each run's bits begin. The image's total is 0 if one of its
// runs did not fit. Shared memory: one sum per warp. The last barrier combines the threads' no_room.
__global__ void __launch_bounds__(kSumThreads)
    sum_bits_kernel(std::byte* memory, const JpegEncodingGroup group) {
  const JpegEncodingImage& image = at<const JpegEncodingImage>(memory, group.image)[blockIdx.x];
  const auto* bits = at<const std::uint32_t>(memory, group.run_bits);
  auto* first = at<std::uint64_t>(memory, group.run_first);
  int no_room = 0;
  const std::uint64_t all = sum_runs(
      image,
      [&](std::uint32_t run) {
        no_room |= bits[run] == kSlotOverflow ? 1 : 0;
        return std::uint64_t{bits[run]};
      },
      [&](std::uint32_t run, std::uint64_t sum) { first[run] = sum; });
  no_room = __syncthreads_or(no_room);
  if (threadIdx.x == 0) at<std::uint64_t>(memory, group.image_bits)[blockIdx.x] = no_room != 0 ? 0 : all;
}

// Fetches a run for the joining kernels; returns false if its image did not fit.
__device__ bool find_run(std::byte* memory, const JpegEncodingGroup& group, std::uint32_t run,
                         std::uint32_t& position, RunBits& bits, RunBytes& bytes) {
  position = last_at_most(at<const std::uint32_t>(memory, group.first_run), group.images, run);
  if (at<const std::uint64_t>(memory, group.image_bits)[position] == 0) return false;
  const JpegEncodingImage& image = at<const JpegEncodingImage>(memory, group.image)[position];
  const std::uint32_t of_image = run - image.first_run;
  bits.words = at<const std::uint32_t>(memory, image.slots) + std::uint64_t{of_image} * image.slot_words;
  bits.bits = at<const std::uint32_t>(memory, group.run_bits)[run];
  if (of_image + 1 < image.runs) bits.next = bits.words[image.slot_words];
  bytes = bytes_of_run(at<const std::uint64_t>(memory, group.run_first)[run], bits.bits);
  return true;
}

// One block of threads per run: counts the 0xFF bytes that begin in it, four bytes per thread and step.
// Shared memory: one count per warp; the barrier completes them.
__global__ void __launch_bounds__(kJoinThreads)
    count_stuffing_kernel(std::byte* memory, const JpegEncodingGroup group) {
  __shared__ std::uint32_t warp_counts[kJoinThreads / kWarpLanes];
  std::uint32_t position = 0;
  RunBits bits;
  RunBytes bytes;
  if (!find_run(memory, group, blockIdx.x, position, bits, bytes)) return;
  int count = 0;
  for (std::uint32_t i = 4 * threadIdx.x; i < bytes.count; i += 4 * kJoinThreads) {
    const std::uint32_t word = bits.from(bytes.skipped + 8 * i);
    count += __popc(mark_ff_bytes(word) & leading_byte_marks(bytes.count - i));
  }
#pragma unroll
  for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) count += __shfl_xor_sync(0xFFFFFFFF, count, apart);
  if (threadIdx.x % kWarpLanes == 0)
    warp_counts[threadIdx.x / kWarpLanes] = static_cast<std::uint32_t>(count);
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::uint32_t all = 0;
  for (const std::uint32_t of_warp : warp_counts) all += of_warp;
  at<std::uint32_t>(memory, group.run_stuffed)[blockIdx.x] = all;
}

// One block of threads per image: computes where each run's bytes go, and their total. Barriers: sum_runs().
__global__ void __launch_bounds__(kSumThreads)
    sum_stuffing_kernel(std::byte* memory, const JpegEncodingGroup group) {
  const JpegEncodingImage& image = at<const JpegEncodingImage>(memory, group.image)[blockIdx.x];
  const std::uint64_t image_bits = at<const std::uint64_t>(memory, group.image_bits)[blockIdx.x];
  std::uint64_t bytes = 0;
  if (image_bits != 0) {
    const auto* stuffed = at<const std::uint32_t>(memory, group.run_stuffed);
    const auto* first = at<const std::uint64_t>(memory, group.run_first);
    auto* out = at<std::uint64_t>(memory, group.run_out);
    const std::uint64_t all = sum_runs(
        image, [&](std::uint32_t run) { return std::uint64_t{stuffed[run]}; },
        [&](std::uint32_t run, std::uint64_t sum) { out[run] = (first[run] + 7) / 8 + sum; });
    bytes = (image_bits + 7) / 8 + all;
  }
  if (threadIdx.x == 0)
    at<std::uint64_t>(memory, group.results)[blockIdx.x] = bytes <= image.out_bytes ? bytes : 0;
}

// One block of threads per run: writes its bytes, each thread four at a time. Shared memory: bytes per warp.
// Each step takes two barriers: the warps' counts are complete; all threads have read them.
__global__ void __launch_bounds__(kJoinThreads)
    join_runs_kernel(std::byte* memory, const JpegEncodingGroup group) {
  __shared__ std::uint32_t warp_bytes[kJoinThreads / kWarpLanes];
  std::uint32_t position = 0;
  RunBits bits;
  RunBytes bytes;
  if (!find_run(memory, group, blockIdx.x, position, bits, bytes)) return;
  if (at<const std::uint64_t>(memory, group.results)[position] == 0) return;
  auto* out = at<std::uint8_t>(memory, at<const JpegEncodingImage>(memory, group.image)[position].out) +
              at<const std::uint64_t>(memory, group.run_out)[blockIdx.x];
  const std::uint32_t warp = threadIdx.x / kWarpLanes;
  for (std::uint32_t first = 0; first < bytes.count; first += 4 * kJoinThreads) {
    const std::uint32_t i = first + 4 * threadIdx.x;
    const std::uint32_t count = i < bytes.count ? min(bytes.count - i, 4U) : 0;
    const std::uint32_t word = count > 0 ? bits.from(bytes.skipped + 8 * i) : 0;
    const std::uint32_t marks = mark_ff_bytes(word) & leading_byte_marks(count);
    const std::uint32_t mine = count + static_cast<std::uint32_t>(__popc(marks));
    std::uint32_t to = sum_to_lane(mine);
    if (threadIdx.x % kWarpLanes == kWarpLanes - 1) warp_bytes[warp] = to;
    __syncthreads();
    to -= mine;
    std::uint32_t all = 0;
    for (std::uint32_t w = 0; w < kJoinThreads / kWarpLanes; ++w) {
      if (w < warp) to += warp_bytes[w];
      all += warp_bytes[w];
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      const auto byte = static_cast<std::uint8_t>(word >> (24 - 8 * k));
      out[to++] = byte;
      if (byte == 0xFF) out[to++] = 0;
    }
    out += all;
    __syncthreads();
  }
}

}  // namespace

CudaStatus JpegEncoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  if (group_.images == 0) return cudaSuccess;
  // Without a successful launch before it, a kernel would read arbitrary memory as results.
  encode_runs_kernel<<<group_.runs, kRunBlocks, 0, launch.stream>>>(memory, group_);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  sum_bits_kernel<<<group_.images, kSumThreads, 0, launch.stream>>>(memory, group_);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  count_stuffing_kernel<<<group_.runs, kJoinThreads, 0, launch.stream>>>(memory, group_);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  sum_stuffing_kernel<<<group_.images, kSumThreads, 0, launch.stream>>>(memory, group_);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  join_runs_kernel<<<group_.runs, kJoinThreads, 0, launch.stream>>>(memory, group_);
  return cudaGetLastError();
}

}  // namespace imgpipe

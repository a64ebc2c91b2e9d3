// equalize of 16-bit samples. The table of what each of 65,536 values becomes takes 128 KiB: it lies in the
// shared memory of every block, which makes it for itself out of the counts in the L2 cache. Where a block
// cannot have so much (before compute capability 8.0, and 8.6 to 8.9) the values are done in slices, one
// launch after the other, each of which leaves alone what is not its own.
#include <algorithm>

#include "kernels/device_rows.cuh"
#include "kernels/equalize/equalize.h"

namespace imgpipe {
namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / kWarpLanes;
constexpr int kValues = 65536;
constexpr int kWarpValues = kValues / kWarps;  // of a warp's part of the table
constexpr int kRoundValues = 2 * kWarpLanes;   // a lane has two adjacent ones at a time
constexpr int kVectors = 2;
constexpr int kVectorSamples = kVectorPixels / 2;  // of 16 bits
constexpr int kOwnShared = 1024;                   // bytes that are not the table's, at most

// The values first..first+count-1.
struct Slice {
  int first, count;
};

struct Pair {
  std::uint64_t lower, upper;
};
__device__ __forceinline__ Pair load_pair(const std::uint64_t* counts) {
  const ulonglong2 both = __ldg(reinterpret_cast<const ulonglong2*>(counts));
  return {both.x, both.y};
}

// All threads of a block call this together: the entries of the slice. Each warp sums its 2048 counts, then
// goes over them again from what lies before. Barriers: the least value is none yet before it is looked for;
// it and the warps' sums are complete before they are used; the table is before the first look.
__device__ void block_equalize_slice(const std::uint64_t* counts, const Slice& slice, Sample16* table) {
  __shared__ std::uint64_t warp_sums[kWarps];
  __shared__ int least;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;
  if (threadIdx.x == 0) least = kValues;
  __syncthreads();
  const int begin = warp * kWarpValues + 2 * lane;
  std::uint64_t sum = 0;
  int own_least = kValues;
  for (int round = 0; round < kWarpValues; round += kRoundValues) {
    const Pair pair = load_pair(counts + begin + round);
    sum += pair.lower + pair.upper;
    const int first = pair.lower != 0 ? begin + round : pair.upper != 0 ? begin + round + 1 : kValues;
    own_least = min(own_least, first);
  }
#pragma unroll
  for (int step = kWarpLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
  if (lane == 0) warp_sums[warp] = sum;
  if (own_least < kValues) atomicMin(&least, own_least);
  __syncthreads();
  std::uint64_t before = 0;  // of the values below the warp's next ones
  std::uint64_t total = 0;
  for (int i = 0; i < kWarps; ++i) {
    if (i < warp) before += warp_sums[i];
    total += warp_sums[i];
  }
  const std::uint64_t of_least = counts[least];
  const bool stays = of_least == total;
  const float scale = stays ? 0.0F : equalize_scale(kLargest<Sample16>, total - of_least);
  const auto becomes = [&](int value, std::uint64_t not_above) -> std::uint32_t {
    if (stays) return static_cast<std::uint32_t>(value);
    if (not_above <= of_least) return 0;
    return static_cast<std::uint32_t>(equalized(not_above - of_least, scale, kLargest<Sample16>));
  };
  for (int round = 0; round < kWarpValues; round += kRoundValues) {
    const int value = begin + round;
    const Pair pair = load_pair(counts + value);
    std::uint64_t not_above = pair.lower + pair.upper;
#pragma unroll
    for (unsigned step = 1; step < kWarpLanes; step *= 2) {
      const std::uint64_t other = __shfl_up_sync(0xFFFFFFFF, not_above, step);
      if (lane >= static_cast<int>(step)) not_above += other;
    }
    not_above += before;
    before = __shfl_sync(0xFFFFFFFF, not_above, kWarpLanes - 1);
    if (value >= slice.first && value < slice.first + slice.count) {
      const std::uint32_t lower = becomes(value, not_above - pair.upper);
      *reinterpret_cast<std::uint32_t*>(table + (value - slice.first)) = lower | becomes(value + 1, not_above)
                                                                                     << 16;
    }
  }
  __syncthreads();
}

// Two samples; those that are not the slice's stay what they were.
template <bool Whole>
__device__ __forceinline__ std::uint32_t looked_up(const Sample16* table, const Slice& slice,
                                                   std::uint32_t word, std::uint32_t was) {
  const auto one = [&](std::uint32_t value, std::uint32_t before) -> std::uint32_t {
    if (Whole) return table[value];
    const auto place = static_cast<int>(value) - slice.first;
    return place >= 0 && place < slice.count ? table[place] : before;
  };
  return one(word & 0xFFFF, was & 0xFFFF) | one(word >> 16, was >> 16) << 16;
}

__device__ __forceinline__ void store_samples(Sample16* to, const std::uint32_t (&words)[4],
                                              std::int64_t count) {
  if (count >= kVectorSamples) {
    *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
    return;
  }
#pragma unroll
  for (int k = 0; k < kVectorSamples; ++k) {
    if (k < count) to[k] = static_cast<Sample16>(words[k / 2] >> (k % 2 * 16));
  }
}

// Plane blockIdx.z. Shared memory: the slice's part of the table. Whole: the slice is all of it; else samples
// of earlier slices stand in `out` already. Rows are walked over as bytes.
template <bool Whole>
__global__ __launch_bounds__(kThreads) void equalize16_kernel(DevicePlanes<const Sample16> in,
                                                              DevicePlanes<Sample16> out,
                                                              Histogram<Device> histogram, Slice slice) {
  extern __shared__ __align__(16) Sample16 table[];
  const Plane<const Sample16, Device> from = plane_of_block(in);
  const Plane<Sample16, Device> to = plane_of_block(out);
  block_equalize_slice(histogram.row(blockIdx.z), slice, table);
  for (RowSegments<kVectors> at(2 * from.width, from.height); at.inside(); at.next()) {
    const std::int64_t x = at.x() / 2;
    const std::int64_t left = from.width - x;
    const Sample16* source = from.row(at.y()) + x;
    Sample16* target = to.row(at.y()) + x;
    constexpr int kStep = kSegmentPixels / 2;
    uint4 vectors[kVectors];
    uint4 were[kVectors] = {};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (left <= i * kStep) break;
      vectors[i] = __ldg(reinterpret_cast<const uint4*>(source + i * kStep));
      if (!Whole && slice.first > 0) were[i] = *reinterpret_cast<const uint4*>(target + i * kStep);
    }
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (left <= i * kStep) break;
      const std::uint32_t words[4] = {looked_up<Whole>(table, slice, vectors[i].x, were[i].x),
                                      looked_up<Whole>(table, slice, vectors[i].y, were[i].y),
                                      looked_up<Whole>(table, slice, vectors[i].z, were[i].z),
                                      looked_up<Whole>(table, slice, vectors[i].w, were[i].w)};
      store_samples(target + i * kStep, words, left - i * kStep);
    }
  }
}

// Values a slice that fit into a block's shared memory, a multiple of a round.
cudaError_t slice_values(int& values) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  int bytes = 0;
  status = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status != cudaSuccess) return status;
  const int fitting = (bytes - kOwnShared) / static_cast<int>(sizeof(Sample16));
  values = std::min(kValues, fitting / kRoundValues * kRoundValues);
  return cudaSuccess;
}

}  // namespace

CudaStatus equalize16_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  int values = 0;
  if (const cudaError_t status = slice_values(values); status != cudaSuccess) return status;
  auto* const kernel = values == kValues ? &equalize16_kernel<true> : &equalize16_kernel<false>;
  const auto shared = static_cast<std::size_t>(values) * sizeof(Sample16);
  if (const cudaError_t status =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
      status != cudaSuccess)
    return status;
  FrameType as_bytes = call.in.type;
  as_bytes.width *= 2;
  const dim3 grid(stride_blocks<kVectors>(launch, as_bytes, kThreads, 1), 1,
                  static_cast<unsigned>(call.in.type.color_channels));
  const DevicePlanes<const Sample16> in{
      {call.in.plane<Sample16>(0), call.in.plane<Sample16>(1), call.in.plane<Sample16>(2)}};
  const DevicePlanes<Sample16> out{
      {call.out.plane<Sample16>(0), call.out.plane<Sample16>(1), call.out.plane<Sample16>(2)}};
  for (int first = 0; first < kValues; first += values) {
    const Slice slice{first, std::min(values, kValues - first)};
    kernel<<<grid, kThreads, shared, launch.stream>>>(in, out, call.histogram, slice);
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

}  // namespace imgpipe

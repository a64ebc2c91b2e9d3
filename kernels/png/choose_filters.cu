// Chooses each row's filter by the sums of the absolute values of its residuals.
#include <cuda_runtime.h>

#include "kernels/png/filter_word.h"
#include "kernels/png/steps.h"

namespace imgpipe::png_strips {
namespace {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;

struct Vector {
  std::uint32_t word[4];
};

__device__ inline Vector load(const std::uint8_t* row, std::uint32_t at) {
  const uint4 v = __ldg(reinterpret_cast<const uint4*>(row + at));
  return {{v.x, v.y, v.z, v.w}};
}
// Returns the four bytes before a vector; zeros if the vector begins the row.
__device__ inline std::uint32_t load_before(const std::uint8_t* row, std::uint32_t at) {
  return at == 0 ? 0 : __ldg(reinterpret_cast<const std::uint32_t*>(row + at - 4));
}

// Adds the absolute values of the residuals of 16 bytes to each filter's sum; unless Whole, only of the first
// `bytes` bytes.
template <bool HasAbove, bool Whole>
__device__ inline void add_vector(const std::uint8_t* row, const std::uint8_t* above, std::uint32_t at,
                                  std::uint32_t bytes, unsigned left_shift, std::uint32_t (&sums)[kFilters]) {
  const Vector x = load(row, at);
  const Vector b = HasAbove ? load(above, at) : Vector{};
  std::uint32_t x_before = load_before(row, at);
  std::uint32_t b_before = HasAbove ? load_before(above, at) : 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const FilterWords n{x.word[k], joined_words(x_before, x.word[k], left_shift), b.word[k],
                        joined_words(b_before, b.word[k], left_shift)};
    x_before = x.word[k];
    b_before = b.word[k];
    const std::uint32_t mask = Whole ? ~0U : byte_mask(((1U << bytes) - 1) >> 4 * k);
    sums[kNone] = add_residuals<kNone>(n, mask, sums[kNone]);
    sums[kSub] = add_residuals<kSub>(n, mask, sums[kSub]);
    if (HasAbove) {
      sums[kUp] = add_residuals<kUp>(n, mask, sums[kUp]);
      sums[kAverage] = add_residuals<kAverage>(n, mask, sums[kAverage]);
      sums[kPaeth] = add_residuals<kPaeth>(n, mask, sums[kPaeth]);
    }
  }
}

template <bool HasAbove>
__device__ inline void add_segment(const PngImage& picture, std::uint32_t y, std::uint32_t segment,
                                   std::uint32_t lane, std::uint32_t (&sums)[kFilters]) {
  const std::uint8_t* row = picture.pixels + y * picture.stride;
  const std::uint8_t* above = row - picture.stride;
  const std::uint32_t begin = segment * kSegmentBytes;
  const std::uint32_t left = picture.row_bytes - begin;
  const std::uint32_t end = begin + (left < kSegmentBytes ? left : kSegmentBytes);
  const unsigned left_shift = 32 - 8 * picture.channels;  // selects the pixel to the left
  std::uint32_t at = begin + 16 * lane;
#pragma unroll 2
  for (; at + 16 <= end; at += 16 * picture.lanes_per_segment)
    add_vector<HasAbove, true>(row, above, at, 16, left_shift, sums);
  if (at < end) add_vector<HasAbove, false>(row, above, at, end - at, left_shift, sums);
}

// lanes_per_segment adjacent lanes handle a segment of a row, 16 bytes per lane and step, and add up their
// sums with warp shuffles. No shared memory. Rows of several segments are summed in group.sums, from which
// write_filtered() chooses.
__global__ __launch_bounds__(kChooseThreads) void choose_kernel(Group group) {
  const PngImage picture = image_containing(group, &PngImage::first_choose_block, blockIdx.x);
  const std::uint64_t thread =
      std::uint64_t{blockIdx.x - picture.first_choose_block} * kChooseThreads + threadIdx.x;
  const std::uint32_t lane = threadIdx.x & (picture.lanes_per_segment - 1);
  const std::uint64_t item = thread / picture.lanes_per_segment;
  const std::uint32_t segments = picture.segments_per_row;
  const auto y = static_cast<std::uint32_t>(segments == 1 ? item : item / segments);
  const auto segment = static_cast<std::uint32_t>(segments == 1 ? 0 : item - std::uint64_t{y} * segments);
  const bool there = y < picture.height;
  const bool has_above = there && y % picture.strip_rows != 0;
  std::uint32_t sums[kFilters]{};
  if (has_above) {
    add_segment<true>(picture, y, segment, lane, sums);
  } else if (there) {
    add_segment<false>(picture, y, segment, lane, sums);
  }
  __syncwarp();
  for (unsigned step = picture.lanes_per_segment / 2; step > 0; step /= 2) {
#pragma unroll
    for (std::uint32_t& sum : sums) sum += __shfl_xor_sync(kAllLanes, sum, static_cast<int>(step));
  }
  if (!there || lane != 0) return;
  if (segments == 1) {
    group.types[picture.first_row + y] = static_cast<std::uint8_t>(best_filter(sums, has_above));
  } else {
    for (unsigned f = 0; f < kFilters; ++f)
      atomicAdd(&group.sums[picture.first_sum + y].of[f], static_cast<unsigned long long>(sums[f]));
  }
}

}  // namespace

CudaStatus choose_filters(const Group& group, CUstream_st* stream) {
  choose_kernel<<<group.choose_blocks, kChooseThreads, 0, stream>>>(group);
  return cudaGetLastError();
}

}  // namespace imgpipe::png_strips

#include "kernels/hist/shared_counters.cuh"
#include "kernels/jpeg/reconstruction_plan.h"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpLanes;
constexpr int kColourBlocks = 4;  // a multiprocessor
constexpr int kPixelBlocks = 4;

struct Group {
  const ReconstructionImage* images;
  const std::uint64_t* first_luma;
  const std::uint64_t* first_colour;
  std::byte* memory;
  unsigned count;
};

// The image in which a run begins. All threads of the block; a barrier.
__device__ unsigned image_of_item(const std::uint64_t* first, unsigned images, std::uint64_t item,
                                  unsigned& shared) {
  for (unsigned i = threadIdx.x; i < images; i += blockDim.x) {
    if (first[i] <= item && item < first[i + 1]) shared = i;
  }
  __syncthreads();
  return shared;
}

// All threads of the block.
__device__ void copy_image(const ReconstructionImage& from, ReconstructionImage& to) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(&from);
  for (unsigned i = threadIdx.x; i < sizeof from / sizeof(std::uint32_t); i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(&to)[i] = words[i];
}

// ---- blocks to samples -----------------------------------------------------------------------------------

// A warp's eight blocks, each lane with that of lane / 4; `room`: kTransformWords words of shared memory, on
// a 16-byte boundary, of the warp's own. All lanes.
__device__ __forceinline__ SampleVector transform_blocks(const std::int16_t* block, const ColumnSteps& steps,
                                                         std::uint32_t* room) {
  const unsigned lane = threadIdx.x % kWarpLanes;
  const unsigned part = lane % kBlockLanes;
  const auto* words = reinterpret_cast<const std::uint32_t*>(block) + part;
  std::uint32_t pairs[kBlockSide];
#pragma unroll
  for (int y = 0; y < kBlockSide; ++y) pairs[y] = __ldg(words + y * (kBlockSide / 2));
  const std::uint32_t far_rows = pairs[4] | pairs[5] | pairs[6] | pairs[7];
  const unsigned not_flat = __ballot_sync(~0U, (far_rows | pairs[1] | pairs[2] | pairs[3]) != 0);
  EightSamples upper;
  EightSamples lower;
  if (not_flat == 0) {
    room[lane] = flat_columns(pairs[0], steps);
    __syncwarp();
    const uint4 row = *reinterpret_cast<const uint4*>(room + (lane - part));
    __syncwarp();
    upper = transform_row(row.x, row.y, row.z, row.w);
    lower = upper;
  } else {
    const bool flat = (not_flat >> (lane - part) & 0xF) == 0;
    std::uint32_t out[kBlockSide];
    if (__any_sync(~0U, far_rows != 0)) {
      transform_columns<8>(pairs, steps, flat, out);
    } else {
      transform_columns<4>(pairs, steps, flat, out);
    }
#pragma unroll
    for (unsigned y = 0; y < kBlockSide; ++y) room[column_word(lane, y)] = out[y];
    __syncwarp();
    const uint4 a = *reinterpret_cast<const uint4*>(room + row_word(lane / kBlockLanes, part));
    const uint4 b = *reinterpret_cast<const uint4*>(room + row_word(lane / kBlockLanes, part + kBlockLanes));
    __syncwarp();
    upper = transform_row(a.x, a.y, a.z, a.w);
    lower = transform_row(b.x, b.y, b.z, b.w);
  }
  const bool gives_lower = gives_lower_row(lane);
  EightSamples got;
  got.word[0] = __shfl_xor_sync(~0U, gives_lower ? lower.word[0] : upper.word[0], kBlockLanes);
  got.word[1] = __shfl_xor_sync(~0U, gives_lower ? lower.word[1] : upper.word[1], kBlockLanes);
  return joined_rows(lane, upper, lower, got);
}

// ---- colour planes ---------------------------------------------------------------------------------------

// Of eight pairs of Cb and Cr, the first `count` of which stand for pixels: repeats the last one behind them.
__device__ __noinline__ void repeat_last(uint4& vector, unsigned count) {
  std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
  std::uint32_t last = 0;
#pragma unroll
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned shift = 16 * (i % 2);
    if (i < count) {
      last = words[i / 2] >> shift & 0xFFFF;
    } else {
      words[i / 2] = (words[i / 2] & ~(0xFFFFU << shift)) | last << shift;
    }
  }
  vector = make_uint4(words[0], words[1], words[2], words[3]);
}

__device__ __forceinline__ void make_colours(const ReconstructionImage& image, const ItemPlace& place,
                                             const ColumnSteps& steps, std::uint32_t* room,
                                             std::byte* memory) {
  const unsigned lane = threadIdx.x % kWarpLanes;
  const unsigned block = lane / kBlockLanes;
  const std::uint32_t last = image.order.mcus_across - 1;
  const std::uint32_t mcu = place.group * kColourItemMcus + block / 2;
  const std::uint64_t number = image.order.colour(mcu < last ? mcu : last, place.row, block % 2);
  const SampleVector samples = transform_blocks(image.coefficients + number * kBlockSamples, steps, room);
  const VectorPlace vector = vector_place(lane);
  const std::uint32_t x = place.group * kColourItemMcus + vector.pair;
  const std::uint32_t y = place.row * kBlockSide + vector.row;
  if (x > last || y >= image.colour_height) return;
  uint4 pairs = make_uint4(chosen_bytes(samples.word[0], samples.word[2], 0x5140),
                           chosen_bytes(samples.word[0], samples.word[2], 0x7362),
                           chosen_bytes(samples.word[1], samples.word[3], 0x5140),
                           chosen_bytes(samples.word[1], samples.word[3], 0x7362));
  const std::uint32_t left = image.colour_width - x * kBlockSide;
  if (left < kBlockSide) repeat_last(pairs, left);
  *reinterpret_cast<uint4*>(memory + image.colour_offset + y * image.colour_stride +
                            x * std::int64_t{2 * kBlockSide}) = pairs;
}

// Blocks of Cb and Cr to samples, and counters to zero. A warp an item at a time; shared memory: 1 KiB a
// warp.
__global__ __launch_bounds__(kThreads, fitting_blocks(kThreads, kColourBlocks)) void colour_kernel(
    Group group, std::uint64_t items) {
  __shared__ __align__(16) std::uint32_t rooms[kWarps][kTransformWords];
  __shared__ ReconstructionImage image;
  __shared__ unsigned first_image;
  for (unsigned i = blockIdx.x; i < group.count; i += gridDim.x) {
    std::uint64_t* counts = group.images[i].counts;
    if (counts == nullptr) continue;
    for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) counts[bin] = 0;
  }
  ItemRun run = run_of(items, blockIdx.x, gridDim.x);
  if (run.begin >= run.end) return;
  unsigned number = image_of_item(group.first_colour, group.count, run.begin, first_image);
  const unsigned warp = threadIdx.x / kWarpLanes;
  const unsigned lane = threadIdx.x % kWarpLanes;
  for (; run.begin < run.end; ++number) {
    const std::uint64_t first = group.first_colour[number];
    const std::uint64_t behind = group.first_colour[number + 1];
    const std::uint64_t end = run.end < behind ? run.end : behind;
    if (run.begin >= end) continue;
    __syncthreads();
    copy_image(group.images[number], image);
    __syncthreads();
    ColumnSteps steps;
    steps.load(image.steps[1 + lane / kBlockLanes % 2], lane % kBlockLanes);
    ItemWalk walk(run.begin + warp - first, kWarps, image.colour_groups, 0);
    for (std::uint64_t item = run.begin + warp; item < end; item += kWarps, walk.next())
      make_colours(image, walk.place(), steps, rooms[warp], group.memory);
    run.begin = end;
  }
}

// ---- pixels ----------------------------------------------------------------------------------------------

__device__ __forceinline__ void set_words(std::uint32_t* words, const uint4& vector) {
  words[0] = vector.x;
  words[1] = vector.y;
  words[2] = vector.z;
  words[3] = vector.w;
}

// 8 samples of a row of a colour plane that begin with sample x, those beside them too.
__device__ __forceinline__ HalfRow load_half_row(const std::byte* row, std::uint32_t x,
                                                 std::uint32_t colour_width) {
  HalfRow out;
  const auto* at = row + std::size_t{2} * x;
  set_words(out.word, *reinterpret_cast<const uint4*>(at));
  out.before = pair_of(out.word[0], 0);
  out.after = pair_of(out.word[3], 1);
  if (x > 0) out.before = pair_of(*reinterpret_cast<const std::uint16_t*>(at - 2), 0);
  if (x + kBlockSide < colour_width)
    out.after = pair_of(*reinterpret_cast<const std::uint16_t*>(at + 2 * kBlockSide), 0);
  return out;
}

// 16 samples.
__device__ __forceinline__ void load_full_row(const std::byte* row, std::uint32_t x,
                                              std::uint32_t colour_width, std::uint32_t (&words)[8]) {
  const auto* at = reinterpret_cast<const uint4*>(row + std::size_t{2} * x);
  set_words(words, at[0]);
  set_words(words + 4, x + kBlockSide < colour_width ? at[1] : make_uint4(0, 0, 0, 0));
}

// Cb and Cr of 16 pixels from x, y on, which lie in the picture.
__device__ __forceinline__ void colours_of(const ReconstructionImage& image, const std::byte* memory,
                                           std::uint32_t x, std::uint32_t y,
                                           std::uint32_t (&pairs)[kColourPixels]) {
  const Upsampling upsampling = image.upsampling;
  const ColourRows rows =
      colour_rows(y, image.colour_height, image.order.down_shift != 0, mixes_rows(upsampling));
  const std::byte* const plane = memory + image.colour_offset;
  const std::byte* const near = plane + rows.near * image.colour_stride;
  const std::byte* const far = plane + rows.far * image.colour_stride;
  const std::uint32_t width = image.colour_width;
  if (upsampling == Upsampling::both) {
    upsample_both(load_half_row(near, x / 2, width), load_half_row(far, x / 2, width), pairs);
  } else if (upsampling == Upsampling::across) {
    upsample_across(load_half_row(near, x / 2, width), pairs);
  } else if (upsampling == Upsampling::repeated) {
    repeat_across(load_half_row(near, x / 2, width).word, pairs);
  } else {
    std::uint32_t near_words[8];
    load_full_row(near, x, width, near_words);
    if (upsampling == Upsampling::down) {
      std::uint32_t far_words[8];
      load_full_row(far, x, width, far_words);
      upsample_down(near_words, far_words, y % 2 != 0, pairs);
    } else {
      take_all(near_words, pairs);
    }
  }
}

// 16 pixels of three bytes, or the first `count`.
__device__ __forceinline__ void store_pixels(Sample* to, const std::uint32_t (&words)[12],
                                             std::uint32_t count) {
  if (count >= kColourPixels) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      reinterpret_cast<uint4*>(to)[i] =
          make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    }
    return;
  }
#pragma unroll
  for (unsigned k = 0; k < 3 * kColourPixels; ++k) {
    if (k < 3 * count) to[k] = static_cast<Sample>(byte_of(words, static_cast<int>(k)));
  }
}

// What a lane's samples of luma become.
template <bool Count>
__device__ __forceinline__ void make_pixels(const ReconstructionImage& image, const ItemPlace& place,
                                            const SampleVector& luma, const std::byte* memory,
                                            std::uint32_t* counters) {
  const VectorPlace vector = vector_place(threadIdx.x % kWarpLanes);
  const std::uint32_t x = (place.group * (kTransformBlocks / 2) + vector.pair) * kColourPixels;
  const std::uint32_t y = place.row * kBlockSide + vector.row;
  if (x >= image.width || y >= image.height) return;
  const std::uint32_t left = image.width - x;
  std::uint32_t grey[4];
  if (image.upsampling == Upsampling::grey) {
#pragma unroll
    for (int i = 0; i < 4; ++i) grey[i] = luma.word[i];
    if (image.pixels != nullptr) store_vector(image.pixels + y * image.pixel_stride + x, grey, left);
  } else {
    std::uint32_t pairs[kColourPixels];
    colours_of(image, memory, x, y, pairs);
    std::uint32_t words[12];
    const ByteWeights weights = image.weights;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      std::uint32_t rgb[4];
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) rgb[k] = rgb_of(luma.word[i], k, pairs[4 * i + k]);
      join_pixels(rgb, words + 3 * i);
      grey[i] = third_bytes(grey_of(rgb[0], weights), grey_of(rgb[1], weights), grey_of(rgb[2], weights),
                            grey_of(rgb[3], weights));
    }
    if (image.pixels != nullptr) store_pixels(image.pixels + y * image.pixel_stride + 3 * x, words, left);
  }
  if (image.grey != nullptr) store_vector(image.grey + y * image.grey_stride + x, grey, left);
  if (Count && image.counts != nullptr) count_vector(counters, grey, left);
}

// Blocks of luma to samples to pixels. A warp an item at a time; shared memory: 1 KiB a warp, and counters.
template <bool Count>
__global__ __launch_bounds__(kThreads,
                             fitting_blocks(kThreads, kPixelBlocks)) void pixel_kernel(Group group,
                                                                                       std::uint64_t items) {
  __shared__ __align__(16) std::uint32_t rooms[kWarps][kTransformWords];
  __shared__ __align__(16) std::uint32_t counters[Count ? kSharedCounters : 4];
  __shared__ ReconstructionImage image;
  __shared__ unsigned first_image;
  ItemRun run = run_of(items, blockIdx.x, gridDim.x);
  unsigned number = image_of_item(group.first_luma, group.count, run.begin, first_image);
  const unsigned warp = threadIdx.x / kWarpLanes;
  const unsigned lane = threadIdx.x % kWarpLanes;
  for (; run.begin < run.end; ++number) {
    const std::uint64_t first = group.first_luma[number];
    const std::uint64_t behind = group.first_luma[number + 1];
    const std::uint64_t end = run.end < behind ? run.end : behind;
    if (run.begin >= end) continue;
    __syncthreads();
    copy_image(group.images[number], image);
    if (Count) clear_counters(counters);
    __syncthreads();
    ColumnSteps steps;
    steps.load(image.steps[0], lane % kBlockLanes);
    ItemWalk walk(run.begin + warp - first, kWarps, image.luma_groups, image.order.down_shift);
    for (std::uint64_t item = run.begin + warp; item < end; item += kWarps, walk.next()) {
      const ItemPlace place = walk.place();
      const std::uint32_t x = place.group * kTransformBlocks + lane / kBlockLanes;
      const std::uint64_t block =
          image.order.luma(x < image.luma_blocks ? x : image.luma_blocks - 1, place.row);
      const SampleVector luma =
          transform_blocks(image.coefficients + block * kBlockSamples, steps, rooms[warp]);
      make_pixels<Count>(image, place, luma, group.memory, counters);
    }
    if (Count && image.counts != nullptr) {
      __syncthreads();
      flush_counters(counters, image.counts);
    }
    run.begin = end;
  }
}

// As many blocks of threads as stay, no more than there is work for.
unsigned blocks_for(const CudaLaunch& launch, std::uint64_t items, int resident) {
  const std::uint64_t useful = (items + kWarps - 1) / kWarps;
  const auto filling = static_cast<std::uint64_t>(launch.multiprocessors) * static_cast<unsigned>(resident);
  return static_cast<unsigned>(useful < filling ? useful : filling);
}

}  // namespace

CudaStatus JpegReconstruction::launch(std::byte* memory, const CudaLaunch& launch) const {
  if (luma_items_ == 0) return cudaSuccess;
  Group group{};
  group.count = static_cast<unsigned>(tasks_.size());
  group.images = reinterpret_cast<const ReconstructionImage*>(memory);
  group.first_luma = reinterpret_cast<const std::uint64_t*>(group.images + group.count);
  group.first_colour = group.first_luma + group.count + 1;
  group.memory = memory;
  if (colour_items_ > 0 || any_counts_) {
    const unsigned blocks = blocks_for(launch, colour_items_ + kWarps, kColourBlocks);
    colour_kernel<<<blocks, kThreads, 0, launch.stream>>>(group, colour_items_);
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  }
  const unsigned blocks = blocks_for(launch, luma_items_, kPixelBlocks);
  if (any_counts_) {
    pixel_kernel<true><<<blocks, kThreads, 0, launch.stream>>>(group, luma_items_);
  } else {
    pixel_kernel<false><<<blocks, kThreads, 0, launch.stream>>>(group, luma_items_);
  }
  return cudaGetLastError();
}

}  // namespace imgpipe

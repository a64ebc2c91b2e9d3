#include <algorithm>

#include "kernels/jpeg/block_transform.cuh"
#include "kernels/shared/shared_counters.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpLanes;

// H200, 2026-11-22, 8 images of 8 MP, grey and hist, GP/s on one stream | three: 338 | 415 with these; 330 |
// 401 with 3 pixel blocks per multiprocessor; 328 | 361 with 6 colour blocks. Grids of 2, 4, 8 times as many
// blocks, to balance the end: 3 % faster to 4 % slower | 5 to 17 % slower.
constexpr int kColourBlocks = 4;  // per multiprocessor
constexpr int kPixelBlocks = 4;

struct Group {
  const ReconstructionImage* images;
  const std::uint64_t* first_luma;
  const std::uint64_t* first_colour;
  std::byte* memory;
  unsigned count;
};

// Returns the index of the image that contains `item`. All threads of the block must call it; it ends with a
// barrier.
__device__ unsigned image_of_item(const std::uint64_t* first, unsigned images, std::uint64_t item,
                                  unsigned& shared) {
  for (unsigned i = threadIdx.x; i < images; i += blockDim.x) {
    if (first[i] <= item && item < first[i + 1]) shared = i;
  }
  __syncthreads();
  return shared;
}

// Copies an image's record to shared memory. All threads of the block must call it, with a barrier before and
// after.
__device__ void copy_image(const ReconstructionImage& from, ReconstructionImage& to) {
  const auto* vectors = reinterpret_cast<const uint4*>(&from);
  for (unsigned i = threadIdx.x; i < sizeof from / sizeof(uint4); i += blockDim.x)
    reinterpret_cast<uint4*>(&to)[i] = vectors[i];
}

__device__ int items_of_warp(std::uint64_t items, unsigned warp) {
  return items > warp ? static_cast<int>((items - warp + kWarps - 1) / kWarps) : 0;
}

// ---- colour planes ---------------------------------------------------------------------------------------

// Replaces all but the first `count` of eight Cb and Cr pairs by pair count - 1.
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

__device__ __forceinline__ void store_colours(const ReconstructionImage& image, std::uint32_t group,
                                              std::uint32_t mcu_row, const SampleVector& samples,
                                              std::byte* memory) {
  const VectorPosition vector = vector_position(lane_of_thread());
  const std::uint32_t x = group * kColourItemMcus + vector.pair;
  const std::uint32_t y = mcu_row * kBlockSide + vector.row;
  if (x >= image.order.mcus_across || y >= image.colour_height) return;
  uint4 pairs = make_uint4(select_bytes(samples.word[0], samples.word[2], 0x5140),
                           select_bytes(samples.word[0], samples.word[2], 0x7362),
                           select_bytes(samples.word[1], samples.word[3], 0x5140),
                           select_bytes(samples.word[1], samples.word[3], 0x7362));
  const std::uint32_t left = image.colour_width - x * kBlockSide;
  if (left < kBlockSide) repeat_last(pairs, left);
  auto* const plane = reinterpret_cast<uint4*>(memory + image.colour_offset);
  plane[std::uint64_t{y} * image.order.mcus_across + x] = pairs;
}

// Transforms blocks of Cb and Cr to samples. A block of threads handles one run of items, a warp one item at
// a time with the next two prefetched. Block b also clears the histograms of images b, b + gridDim.x, ...
// Shared memory: 2 KiB per warp, the image's record. Barriers, per image: before and after loading the
// record.
__global__ __launch_bounds__(kThreads, fitting_blocks(kThreads, kColourBlocks)) void colour_kernel(
    Group group, std::uint64_t items) {
  __shared__ __align__(16) std::uint32_t rooms[kWarps][2][kTransformWords];
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
  for (; run.begin < run.end; ++number) {
    const std::uint64_t first = group.first_colour[number];
    const std::uint64_t following = group.first_colour[number + 1];
    const std::uint64_t end = run.end < following ? run.end : following;
    if (run.begin >= end) continue;
    __syncthreads();
    copy_image(group.images[number], image);
    __syncthreads();
    const ComponentSteps& steps = image.steps[1 + lane_of_thread() / kBlockLanes % 2];
    const LaneBlocks blocks(image, image.order.colour(lane_of_thread() / kBlockLanes), kColourItemMcus);
    ItemWalk walk(run.begin + warp - first, kWarps, image.colour_groups, 0);
    ItemWalk ahead = walk;
    TransformBuffer buffer(rooms[warp][0]);
    TransformBuffer other(rooms[warp][1]);
    int left = items_of_warp(end - run.begin, warp);
    int to_fetch = left;
    const auto fetch_next = [&](const TransformBuffer& to) {
      if (to_fetch-- > 0) to.fetch(blocks.at(image.order, ahead));
      ahead.next();
    };
    fetch_next(buffer);
    fetch_next(other);
    const auto make_next = [&](const TransformBuffer& from) {
      if (left > 1) {
        __pipeline_wait_prior(1);
      } else {
        __pipeline_wait_prior(0);
      }
      const TwoRows rows = from.pass_columns(steps);
      fetch_next(from);
      store_colours(image, walk.group(), walk.mcu_row(), pass_rows(rows), group.memory);
      walk.next();
    };
    for (; left > 0; --left) {
      make_next(buffer);
      const TransformBuffer next = other;
      other = buffer;
      buffer = next;
    }
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

// Loads 8 samples of a row of a half-width colour plane and its two neighbours.
__device__ __forceinline__ HalfRow load_half_row(const uint4* at, bool is_first, bool is_last) {
  const auto* pairs = reinterpret_cast<const std::uint16_t*>(at);
  HalfRow out;
  set_words(out.word, *at);
  out.before = is_first ? pair_of(out.word[0], 0) : pair_of(pairs[-1], 0);
  out.after = is_last ? pair_of(out.word[3], 1) : pair_of(pairs[kBlockSide], 0);
  return out;
}

// Loads 16 samples, or 8 at the end of the row.
__device__ __forceinline__ void load_full_row(const uint4* at, bool is_last, std::uint32_t (&words)[8]) {
  set_words(words, at[0]);
  set_words(words + 4, is_last ? make_uint4(0, 0, 0, 0) : at[1]);
}

// Computes Cb and Cr of the 16 pixels from (x, y) on, which must lie in the image.
__device__ __forceinline__ void colours_of(const ReconstructionImage& image, const std::byte* memory,
                                           std::uint32_t x, std::uint32_t y,
                                           std::uint32_t (&pairs)[kColourPixels]) {
  const Upsampling upsampling = image.upsampling;
  const ColourRows rows = colour_rows(y, image.colour_height, image.order.down_shift != 0);
  // Vectors hold 8 samples.
  const std::uint32_t mcus_across = image.order.mcus_across;
  const std::uint32_t vector = x / (halves_columns(upsampling) ? 2 * kBlockSide : kBlockSide);
  const bool is_first = vector == 0;
  const bool is_last = vector + 1 == mcus_across;
  const auto* const column = reinterpret_cast<const uint4*>(memory + image.colour_offset) + vector;
  const uint4* const near = column + std::uint64_t{rows.near} * mcus_across;
  const uint4* const far = column + std::uint64_t{rows.far} * mcus_across;
  if (upsampling == Upsampling::both) {
    upsample_both(load_half_row(near, is_first, is_last), load_half_row(far, is_first, is_last), pairs);
  } else if (upsampling == Upsampling::across) {
    upsample_across(load_half_row(near, is_first, is_last), pairs);
  } else if (upsampling == Upsampling::repeated) {
    repeat_across(load_half_row(near, is_first, is_last).word, pairs);
  } else {
    std::uint32_t near_words[8];
    load_full_row(near, is_last, near_words);
    if (upsampling == Upsampling::down) {
      std::uint32_t far_words[8];
      load_full_row(far, is_last, far_words);
      upsample_down(near_words, far_words, y % 2 != 0, pairs);
    } else {
      unpack_pairs(near_words, pairs);
    }
  }
}

__device__ __forceinline__ void store_pixels(Sample8* to, const std::uint32_t (&words)[12],
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
    if (k < 3 * count) to[k] = static_cast<Sample8>(byte_of(words, static_cast<int>(k)));
  }
}

// Counts 16 samples, or the first `count`, like count_vector().
__device__ __forceinline__ void count_samples(std::uint32_t* counters, const std::uint32_t (&words)[4],
                                              std::uint32_t count) {
  if (count < kVectorPixels) return count_vector(counters, words, count);
  // A value's counters take 128 bytes: in the address its bits and the lane's do not overlap.
  constexpr std::uint32_t kValue = 0xFFU << 7;
  static_assert(kCounterColumns * sizeof(std::uint32_t) == 1U << 7);
  const std::uint32_t column = lane_of_thread() * std::uint32_t{sizeof(std::uint32_t)};
  auto* const bytes = reinterpret_cast<unsigned char*>(counters);
  const auto count_at = [&](std::uint32_t at) {
    atomicAdd(reinterpret_cast<std::uint32_t*>(bytes + ((at & kValue) | column)), 1U);
  };
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    count_at(words[i] << 7);
    count_at(words[i] >> 1);
    count_at(words[i] >> 9);
    count_at(words[i] >> 17);
  }
}

template <bool kPixels, bool kGrey, bool kCounts>
struct Outputs {
  static constexpr bool pixels = kPixels, grey = kGrey, counts = kCounts;
};

template <class Wanted>
__device__ __forceinline__ void make_pixels(const ReconstructionImage& image, std::uint32_t group,
                                            std::uint32_t block_row, const SampleVector& luma,
                                            const std::byte* memory, std::uint32_t* counters) {
  const VectorPosition vector = vector_position(lane_of_thread());
  const std::uint32_t x = (group * (kTransformBlocks / 2) + vector.pair) * kColourPixels;
  const std::uint32_t y = block_row * kBlockSide + vector.row;
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
      if (Wanted::pixels) join_pixels(rgb, words + 3 * i);
      if (!Wanted::grey) continue;
      grey[i] = pack_second_bytes(grey_of(rgb[0], weights), grey_of(rgb[1], weights),
                                  grey_of(rgb[2], weights), grey_of(rgb[3], weights));
    }
    if (Wanted::pixels && image.pixels != nullptr)
      store_pixels(image.pixels + y * image.pixel_stride + 3 * x, words, left);
  }
  if (!Wanted::grey && image.upsampling != Upsampling::grey) return;
  if (image.grey != nullptr) store_vector(image.grey + y * image.grey_stride + x, grey, left);
  if (Wanted::counts && image.counts != nullptr) count_samples(counters, grey, left);
}

// Transforms blocks of luma to samples and then pixels. A block of threads handles one run of items, a warp
// one item at a time with the next prefetched. Shared memory: 1 KiB per warp, the image's record, any
// counters. Barriers, per image: before and after setting record and counters; after counting.
template <class Wanted>
__global__ __launch_bounds__(kThreads,
                             fitting_blocks(kThreads, kPixelBlocks)) void pixel_kernel(Group group,
                                                                                       std::uint64_t items) {
  __shared__ __align__(16) std::uint32_t rooms[kWarps][kTransformWords];
  __shared__ __align__(16) std::uint32_t counters[Wanted::counts ? kSharedCounters : 4];
  __shared__ ReconstructionImage image;
  __shared__ unsigned first_image;
  ItemRun run = run_of(items, blockIdx.x, gridDim.x);
  unsigned number = image_of_item(group.first_luma, group.count, run.begin, first_image);
  const unsigned warp = threadIdx.x / kWarpLanes;
  for (; run.begin < run.end; ++number) {
    const std::uint64_t first = group.first_luma[number];
    const std::uint64_t following = group.first_luma[number + 1];
    const std::uint64_t end = run.end < following ? run.end : following;
    if (run.begin >= end) continue;
    __syncthreads();
    copy_image(group.images[number], image);
    if (Wanted::counts) clear_counters(counters);
    __syncthreads();
    ItemWalk walk(run.begin + warp - first, kWarps, image.luma_groups, image.order.down_shift);
    const LaneBlocks blocks(image, image.order.luma(lane_of_thread() / kBlockLanes, walk.lower()),
                            image.order.luma_group_mcus());
    const TransformBuffer buffer(rooms[warp]);
    int left = items_of_warp(end - run.begin, warp);
    if (left > 0) buffer.fetch(blocks.at(image.order, walk));
    for (; left > 0; --left) {
      const std::uint32_t item_group = walk.group();
      const std::uint32_t block_row = (walk.mcu_row() << image.order.down_shift) + walk.lower();
      __pipeline_wait_prior(0);
      const TwoRows rows = buffer.pass_columns(image.steps[0]);
      walk.next();
      if (left > 1) buffer.fetch(blocks.at(image.order, walk));
      make_pixels<Wanted>(image, item_group, block_row, pass_rows(rows), group.memory, counters);
    }
    if (Wanted::counts && image.counts != nullptr) {
      __syncthreads();
      flush_counters(counters, image.counts);
    }
    run.begin = end;
  }
}

// Returns the number of resident blocks, at most as many as there is work for.
unsigned blocks_for(const CudaLaunch& launch, std::uint64_t items, int resident) {
  const std::uint64_t useful = (items + kWarps - 1) / kWarps;
  const auto filling = static_cast<std::uint64_t>(launch.multiprocessors) * static_cast<unsigned>(resident);
  return static_cast<unsigned>(useful < filling ? useful : filling);
}

using PixelKernel = void (*)(Group, std::uint64_t);

PixelKernel pixel_kernel_for(bool pixels, bool grey, bool counts) {
  if (counts)
    return pixels ? pixel_kernel<Outputs<true, true, true>> : pixel_kernel<Outputs<false, true, true>>;
  if (!grey) return pixel_kernel<Outputs<true, false, false>>;
  return pixels ? pixel_kernel<Outputs<true, true, false>> : pixel_kernel<Outputs<false, true, false>>;
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
    // Clearing an image's counters keeps a block of threads busy about as long as kWarps items do.
    const std::uint64_t clearing = any_counts_ ? std::uint64_t{group.count} * kWarps : 0;
    const unsigned blocks = blocks_for(launch, std::max(colour_items_, clearing), kColourBlocks);
    colour_kernel<<<blocks, kThreads, 0, launch.stream>>>(group, colour_items_);
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) return status;
  }
  const PixelKernel kernel = pixel_kernel_for(any_pixels_, any_grey_, any_counts_);
  kernel<<<blocks_for(launch, luma_items_, kPixelBlocks), kThreads, 0, launch.stream>>>(group, luma_items_);
  return cudaGetLastError();
}

}  // namespace imgpipe

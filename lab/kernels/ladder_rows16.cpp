// The ladders for 16-bit samples: one row per variant, oldest first.
#include <array>

#include "kernels/contrast/contrast.h"
#include "kernels/gray/gray.h"
#include "kernels/hist/hist.h"
#include "kernels/smooth/smooth.h"
#include "lab/kernels/ladder_rows.h"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {

// gray: as for 8 bits, with twice the bytes per pixel.
std::span<const StageVariant> gray16_ladder() {
  const std::span<const StageVariant> narrow = gray_ladder();
  static const std::array kVariants{
      variant_of(narrow, "sequential"),
      variant_of(narrow, "cpu"),
      variant_of(narrow, "naive"),
      variant_of(narrow, "coalesced"),
      variant("words", "2 pixels per thread in 3 loads of 4 bytes: half of the memory instructions",
              "Luitjens 2013, vectorized memory access", IMGPIPE_CUDA_VARIANT(gray_words)),
      variant("vectors", "8 pixels per thread in 3 loads of 16 bytes, the widest available", "Luitjens 2013",
              IMGPIPE_CUDA_VARIANT(gray_vectors)),
      variant("production",
              "256 pixels of a row per warp, no persistent blocks; the luma is the upper half of a sum",
              "imgpipe", IMGPIPE_CUDA_VARIANT(gray16_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// hist: 65,536 counters take 256 KiB, more than shared memory has. Variants differ in where they are stored.
std::span<const StageVariant> hist16_ladder() {
  const std::span<const StageVariant> narrow = hist_ladder();
  static const std::array kVariants{
      variant_of(narrow, "sequential"),
      variant_of(narrow, "cpu-private", IMGPIPE_HOST_VARIANT(hist_private<Sample16>)),
      variant_of(narrow, "cpu-bins", IMGPIPE_HOST_VARIANT(hist_bin_range<Sample16>)),
      variant_of(narrow, "cpu"),
      variant_of(narrow, "global"),
      variant_of(narrow, "global-stride"),
      variant("warp",
              "the same, lanes of a warp with one value find each other, and one of them adds for all",
              "Adinets 2014, warp-aggregated atomics", IMGPIPE_CUDA_VARIANT(hist16_warp)),
      variant("passes",
              "half of the counters in shared memory, so two blocks read every pixel, one for each half",
              "Brown and Snoeyink 2012, multiple passes over the bins", IMGPIPE_CUDA_VARIANT(hist16_passes),
              {.shared_bytes = kHalfBinsBytes}),
      variant(
          "cluster",
          "the halves in the two blocks of a cluster: read once, and half of the additions go to the other "
          "block's shared memory",
          "CUDA C++ Programming Guide, distributed shared memory, histogram example",
          IMGPIPE_CUDA_VARIANT(hist16_cluster), {.shared_bytes = kHalfBinsBytes, .capability = 90}),
      variant("packed",
              "all counters in one block, two of 16 bits per word, emptied before 65,536 pixels can be in",
              "Podlozhnyuk 2007's byte counters, twice as wide", IMGPIPE_CUDA_VARIANT(hist16_packed),
              {.shared_bytes = kHalfBinsBytes}),
      variant_of(narrow, "cub"),
      variant("production",
              "counters two to a word that notice when they pass 16 bits, so they are emptied once; a warp "
              "counts frequent values separately; two blocks are added up before device memory",
              "imgpipe", IMGPIPE_CUDA_VARIANT(hist16_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// contrast: as for 8 bits, but the table has 65,536 values.
std::span<const StageVariant> contrast16_ladder() {
  const std::span<const StageVariant> narrow = contrast_ladder();
  constexpr VariantConditions kScratch{.scratch_bytes = IMGPIPE_IF_CUDA(contrast_range_bytes)};
  static const std::array kVariants{
      variant_of(narrow, "sequential"),
      variant_of(narrow, "cpu"),
      variant_of(narrow, "naive"),
      variant_of(narrow, "coalesced"),
      variant("words", "2 pixels per thread, one load and one store of 4 bytes",
              "Luitjens 2013, vectorized memory access", IMGPIPE_CUDA_VARIANT(contrast_words), kScratch),
      variant("branch-free", "no branches, and a product of 32 and 50 bits instead of the division",
              "Granlund and Montgomery 1994, division by invariant integers",
              IMGPIPE_CUDA_VARIANT(contrast_branch_free), kScratch),
      variant(
          "table",
          "each block makes a table of all 65,536 results in shared memory: more entries than a small image "
          "has pixels",
          "look-up table, as cv::LUT", IMGPIPE_CUDA_VARIANT(contrast_table),
          {.scratch_bytes = IMGPIPE_IF_CUDA(contrast_range_bytes), .shared_bytes = kContrastTableBytes}),
      variant("production",
              "the product, 16 bytes per load and two loads in flight; a cluster of blocks finds lo and hi",
              "imgpipe", IMGPIPE_CUDA_VARIANT(contrast16_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// smooth: as for 8 bits, but the sums of 16-bit samples need a word each.
std::span<const StageVariant> smooth16_ladder() {
  const std::span<const StageVariant> narrow = smooth_ladder();
  static const std::array kVariants{
      variant_of(narrow, "sequential"),
      variant_of(narrow, "cpu"),
      variant_of(narrow, "naive"),
      variant_of(narrow, "tile"),
      variant_of(narrow, "specialised"),
      variant("production",
              "4 columns per thread, sums of five rows in registers by dot products of two samples",
              "imgpipe", IMGPIPE_CUDA_VARIANT(smooth16_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

}  // namespace imgpipe

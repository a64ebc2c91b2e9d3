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
std::span<const Rung> gray16_ladder() {
  const std::span<const Rung> narrow = gray_ladder();
  static const std::array kRungs{
      same_rung(narrow, "sequential"),
      same_rung(narrow, "cpu"),
      same_rung(narrow, "naive"),
      same_rung(narrow, "coalesced"),
      rung("words", "2 pixels per thread in 3 loads of 4 bytes: half of the memory instructions",
           "Luitjens 2013, vectorized memory access", IMGPIPE_CUDA_RUNG(gray_words)),
      rung("vectors", "8 pixels per thread in 3 loads of 16 bytes, the widest available", "Luitjens 2013",
           IMGPIPE_CUDA_RUNG(gray_vectors)),
      rung("production",
           "256 pixels of a row per warp, no persistent blocks; the luma is the upper half of a sum",
           "imgpipe", IMGPIPE_CUDA_RUNG(gray16_cuda), {.grid = Grid::own}),
  };
  return kRungs;
}

// hist: 65,536 counters take 256 KiB, more than shared memory has. Variants differ in where they are stored.
std::span<const Rung> hist16_ladder() {
  const std::span<const Rung> narrow = hist_ladder();
  static const std::array kRungs{
      same_rung(narrow, "sequential"),
      same_rung(narrow, "cpu-private", IMGPIPE_HOST_RUNG(hist_private<Sample16>)),
      same_rung(narrow, "cpu-bins", IMGPIPE_HOST_RUNG(hist_bin_range<Sample16>)),
      same_rung(narrow, "cpu"),
      same_rung(narrow, "global"),
      same_rung(narrow, "global-stride"),
      rung("warp", "the same, lanes of a warp with one value find each other, and one of them adds for all",
           "Adinets 2014, warp-aggregated atomics", IMGPIPE_CUDA_RUNG(hist16_warp)),
      rung("passes",
           "half of the counters in shared memory, so two blocks read every pixel, one for each half",
           "Brown and Snoeyink 2012, multiple passes over the bins", IMGPIPE_CUDA_RUNG(hist16_passes),
           {.shared_bytes = kHalfBinsBytes}),
      rung("cluster",
           "the halves in the two blocks of a cluster: read once, and half of the additions go to the other "
           "block's shared memory",
           "CUDA C++ Programming Guide, distributed shared memory, histogram example",
           IMGPIPE_CUDA_RUNG(hist16_cluster), {.shared_bytes = kHalfBinsBytes, .capability = 90}),
      rung("packed",
           "all counters in one block, two of 16 bits per word, emptied before 65,536 pixels can be in",
           "Podlozhnyuk 2007's byte counters, twice as wide", IMGPIPE_CUDA_RUNG(hist16_packed),
           {.shared_bytes = kHalfBinsBytes}),
      same_rung(narrow, "cub"),
      rung("production",
           "counters two to a word that notice when they pass 16 bits, so they are emptied once; a warp "
           "counts frequent values separately; two blocks are added up before device memory",
           "imgpipe", IMGPIPE_CUDA_RUNG(hist16_cuda), {.grid = Grid::own}),
  };
  return kRungs;
}

// contrast: as for 8 bits, but the table has 65,536 values.
std::span<const Rung> contrast16_ladder() {
  const std::span<const Rung> narrow = contrast_ladder();
  constexpr RungConditions kScratch{.scratch_bytes = IMGPIPE_IF_CUDA(contrast_range_bytes)};
  static const std::array kRungs{
      same_rung(narrow, "sequential"),
      same_rung(narrow, "cpu"),
      same_rung(narrow, "naive"),
      same_rung(narrow, "coalesced"),
      rung("words", "2 pixels per thread, one load and one store of 4 bytes",
           "Luitjens 2013, vectorized memory access", IMGPIPE_CUDA_RUNG(contrast_words), kScratch),
      rung("branch-free", "no branches, and a product of 32 and 50 bits instead of the division",
           "Granlund and Montgomery 1994, division by invariant integers",
           IMGPIPE_CUDA_RUNG(contrast_branch_free), kScratch),
      rung("table",
           "each block makes a table of all 65,536 results in shared memory: more entries than a small image "
           "has pixels",
           "look-up table, as cv::LUT", IMGPIPE_CUDA_RUNG(contrast_table),
           {.scratch_bytes = IMGPIPE_IF_CUDA(contrast_range_bytes), .shared_bytes = kContrastTableBytes}),
      rung("production",
           "the product, 16 bytes per load and two loads in flight; a cluster of blocks finds lo and hi",
           "imgpipe", IMGPIPE_CUDA_RUNG(contrast16_cuda), {.grid = Grid::own}),
  };
  return kRungs;
}

// smooth: as for 8 bits, but the sums of 16-bit samples need a word each.
std::span<const Rung> smooth16_ladder() {
  const std::span<const Rung> narrow = smooth_ladder();
  static const std::array kRungs{
      same_rung(narrow, "sequential"),
      same_rung(narrow, "cpu"),
      same_rung(narrow, "naive"),
      same_rung(narrow, "tile"),
      same_rung(narrow, "specialised"),
      rung("production",
           "4 columns per thread, sums of five rows in registers by dot products of two samples", "imgpipe",
           IMGPIPE_CUDA_RUNG(smooth16_cuda), {.grid = Grid::own}),
  };
  return kRungs;
}

}  // namespace imgpipe

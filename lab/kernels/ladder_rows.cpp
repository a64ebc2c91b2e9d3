// The ladders for 8-bit samples: one row per variant, oldest first.
#include "lab/kernels/ladder_rows.h"

#include <array>

#include "kernels/clahe/clahe.h"
#include "kernels/contrast/contrast.h"
#include "kernels/equalize/equalize.h"
#include "kernels/gray/gray.h"
#include "kernels/hist/hist.h"
#include "kernels/median/median.h"
#include "kernels/smooth/smooth.h"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {

// gray is bound by memory, whatever it computes: 3 bytes in and 1 out per pixel.
std::span<const StageVariant> gray_ladder() {
  static constexpr std::array kVariants{
      variant("sequential", "one thread, pixel by pixel: the baseline of all other rungs", "ITU-R BT.601-7",
              IMGPIPE_HOST_VARIANT(gray_reference)),
      variant("cpu", "SIMD on bands of rows, one for each thread: what --device cpu runs", "imgpipe; Highway",
              IMGPIPE_HOST_VARIANT(gray_cpu)),
      variant(
          "naive",
          "one thread per pixel, byte by byte, neighbouring threads down a column: a warp touches 32 rows",
          "first version in most courses", IMGPIPE_CUDA_VARIANT(gray_naive), {.grid = Grid::covering}),
      variant("coalesced",
              "neighbouring threads on neighbouring pixels: a warp's loads fall into few cache lines",
              "CUDA C++ Best Practices Guide, coalesced access", IMGPIPE_CUDA_VARIANT(gray_coalesced),
              {.grid = Grid::covering}),
      variant("words", "4 pixels per thread in 3 loads of 4 bytes: a quarter of the memory instructions",
              "Luitjens 2013, vectorized memory access", IMGPIPE_CUDA_VARIANT(gray_words)),
      variant("vectors", "16 pixels per thread in 3 loads of 16 bytes, the widest available", "Luitjens 2013",
              IMGPIPE_CUDA_VARIANT(gray_vectors)),
      variant("fused", "gray and hist in one pass (what --fuse runs): reads the grey plane only once",
              "imgpipe", IMGPIPE_CUDA_VARIANT(gray_hist_cuda), {.grid = Grid::own, .counts_too = true}),
      baseline_variant("npp", "nppiColorToGray_8u_C3C1R with the same weights as floats",
                       "NVIDIA Performance Primitives", IMGPIPE_CUDA_VARIANT(gray_npp),
                       {.claim = Claim::near, .grid = Grid::own, .wide = false, .needs_npp = true}),
      variant("production",
              "512 pixels of a row per warp, two dot products of bytes per pixel, no persistent blocks",
              "imgpipe", IMGPIPE_CUDA_VARIANT(gray_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// In hist, reading is cheap (1 byte per pixel) and counting is not. A count is a load, an addition and a
// store, and pixels of the same value need the same counter at the same time. Every variant addresses that.
std::span<const StageVariant> hist_ladder() {
  static constexpr std::array kVariants{
      variant("sequential", "one thread, pixel by pixel", "Gonzalez and Woods, Digital Image Processing, 3.3",
              IMGPIPE_HOST_VARIANT(hist_reference)),
      variant("cpu-private", "threads, each with a private histogram of a band of rows; merged at the end",
              "reduction by privatisation; libvips start, scan, merge",
              IMGPIPE_HOST_VARIANT(hist_private<Sample8>)),
      variant("cpu-bins",
              "threads, each with a range of bins over the whole input: nothing to merge, every thread reads "
              "everything",
              "owner-computes partition of the bins", IMGPIPE_HOST_VARIANT(hist_bin_range<Sample8>)),
      variant(
          "cpu",
          "like cpu-private, with 16 tables per thread used in turn, so that equal neighbours do not wait: "
          "--device cpu",
          "imgpipe; several tables as in Collet's FiniteStateEntropy", IMGPIPE_HOST_VARIANT(hist_cpu)),
      variant("global", "atomic additions in global memory, one thread per pixel",
              "first version in most courses", IMGPIPE_CUDA_VARIANT(hist_global), {.grid = Grid::covering}),
      variant("global-stride", "the same, the grid strides over the image: threads are created once",
              "Harris 2013, grid-stride loops", IMGPIPE_CUDA_VARIANT(hist_global_stride)),
      variant("global-chunk",
              "the same, a contiguous run of pixels per thread: as on a CPU, and nothing coalesces",
              "ported CPU code", IMGPIPE_CUDA_VARIANT(hist_global_chunk)),
      variant("global-chunk-words", "the same, 4 pixels per load", "Luitjens 2013, vectorized memory access",
              IMGPIPE_CUDA_VARIANT(hist_global_words)),
      variant("shared",
              "block partition: one histogram per block in shared memory, added to the global one at the end",
              "Podlozhnyuk 2007; Milakov 2015, shared atomics", IMGPIPE_CUDA_VARIANT(hist_shared)),
      variant("shared-words", "the same, 4 pixels per load", "Luitjens 2013",
              IMGPIPE_CUDA_VARIANT(hist_shared_words)),
      variant("shared-vectors", "the same, 16 pixels per thread and load", "Luitjens 2013",
              IMGPIPE_CUDA_VARIANT(hist_shared_vectors)),
      variant(
          "local",
          "256 counters per thread in local memory: no contention, but a kilobyte to move for every thread",
          "privatisation per thread", IMGPIPE_CUDA_VARIANT(hist_local)),
      variant("local-reduced",
              "the same, the threads' counters added up in shared memory before the global ones",
              "block-level reduction", IMGPIPE_CUDA_VARIANT(hist_local_reduced)),
      variant("linear",
              "one block per value, which reads the whole image and counts in registers: no atomics",
              "one colour per block", IMGPIPE_CUDA_VARIANT(hist_linear), {.grid = Grid::one_per_bin}),
      variant("threads-64",
              "byte counters of each thread in shared memory, no atomics, 64 bins; a second kernel merges",
              "Podlozhnyuk 2007, histogram64 of the CUDA samples", IMGPIPE_CUDA_VARIANT(hist_threads_64),
              {.scratch_bytes = IMGPIPE_IF_CUDA(hist_threads_64_bytes), .max_threads = 512, .bins = 64}),
      variant("threads-256",
              "the same with all 256 bins: four times the memory per thread, so a quarter of the threads",
              "Nugteren et al. 2011; Shams and Kennedy 2007", IMGPIPE_CUDA_VARIANT(hist_threads_256),
              {.scratch_bytes = IMGPIPE_IF_CUDA(hist_threads_256_bytes), .max_threads = 128}),
      variant("columns",
              "four adjacent counters per value, used in turn by neighbouring lanes: a quarter collides",
              "Gomez-Luna et al. 2013, interleaved copies", IMGPIPE_CUDA_VARIANT(hist_columns)),
      variant(
          "replicated",
          "eight histograms per block, one for every 4 lanes, padded so that equal values use other banks",
          "Gomez-Luna et al. 2013, R-per-block", IMGPIPE_CUDA_VARIANT(hist_replicated)),
      variant("non-atomic", "shared-words without atomics: what they cost; its counts are wrong",
              "deliberate data race", IMGPIPE_CUDA_VARIANT(hist_non_atomic), {.claim = Claim::wrong}),
      variant("rgb", "interleaved RGB, three histograms of four columns in one pass",
              "3 x 256 bins, as OpenCV's and CUB's multi-channel histograms", IMGPIPE_CUDA_VARIANT(hist_rgb),
              {.interleaved = true}),
      baseline_variant("cub", "cub::DeviceHistogram::HistogramEven on the padded plane", "NVIDIA CUB",
                       IMGPIPE_CUDA_VARIANT(hist_cub),
                       {.scratch_bytes = IMGPIPE_IF_CUDA(hist_cub_bytes),
                        .collect = IMGPIPE_IF_CUDA(hist_collect),
                        .grid = Grid::own}),
      baseline_variant("npp", "nppiHistogramEven_8u_C1R", "NVIDIA Performance Primitives",
                       IMGPIPE_CUDA_VARIANT(hist_npp),
                       {.scratch_bytes = IMGPIPE_IF_CUDA(hist_npp_bytes),
                        .collect = IMGPIPE_IF_CUDA(hist_collect),
                        .grid = Grid::own,
                        .wide = false,
                        .needs_npp = true}),
      variant(
          "production",
          "32 columns, one per lane: lanes of a warp never collide, whatever the image; loads run ahead of "
          "counting, from the last row up; a counter's address is one dot product",
          "imgpipe", IMGPIPE_CUDA_VARIANT(hist_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// contrast is also bound by memory: 1 byte in and 1 out per pixel.
std::span<const StageVariant> contrast_ladder() {
  constexpr VariantConditions kScratch{.scratch_bytes = IMGPIPE_IF_CUDA(contrast_range_bytes)};
  static constexpr std::array kVariants{
      variant("sequential", "one thread, pixel by pixel, one division each",
              "Gonzalez and Woods, Digital Image Processing, 3.2.4",
              IMGPIPE_HOST_VARIANT(contrast_reference)),
      variant("cpu", "SIMD on bands of rows, one for each thread: what --device cpu runs", "imgpipe; Highway",
              IMGPIPE_HOST_VARIANT(contrast_cpu)),
      variant("naive", "one thread per pixel down a column, branches at lo and hi, one division",
              "first version in most courses", IMGPIPE_CUDA_VARIANT(contrast_naive),
              {.scratch_bytes = IMGPIPE_IF_CUDA(contrast_range_bytes), .grid = Grid::covering}),
      variant("coalesced", "neighbouring threads on neighbouring pixels",
              "CUDA C++ Best Practices Guide, coalesced access", IMGPIPE_CUDA_VARIANT(contrast_coalesced),
              {.scratch_bytes = IMGPIPE_IF_CUDA(contrast_range_bytes), .grid = Grid::covering}),
      variant("words", "4 pixels per thread, one load and one store of 4 bytes",
              "Luitjens 2013, vectorized memory access", IMGPIPE_CUDA_VARIANT(contrast_words), kScratch),
      variant("branch-free", "min and max instead of branches, a multiplication instead of the division",
              "Granlund and Montgomery 1994, division by invariant integers",
              IMGPIPE_CUDA_VARIANT(contrast_branch_free), kScratch),
      variant("table",
              "each block makes a table of all 256 results in shared memory: no arithmetic, one look-up per "
              "pixel",
              "look-up table, as cv::LUT", IMGPIPE_CUDA_VARIANT(contrast_table), kScratch),
      variant("production",
              "16 pixels per load and two loads in flight; every block finds lo and hi itself: no separate "
              "kernel",
              "imgpipe", IMGPIPE_CUDA_VARIANT(contrast_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// smooth is bound by memory (1 byte in and 1 out per pixel); the obstacle is 25 loads per pixel.
std::span<const StageVariant> smooth_ladder() {
  static constexpr std::array kVariants{
      variant("sequential", "one thread, 25 taps for each pixel, each coordinate checked",
              "Gonzalez and Woods, Digital Image Processing, 3.5", IMGPIPE_HOST_VARIANT(smooth_reference)),
      variant("cpu", "SIMD, sums along rows and then down columns, on bands of rows: what --device cpu runs",
              "imgpipe; Highway", IMGPIPE_HOST_VARIANT(smooth_cpu)),
      variant("naive", "one thread per pixel, 25 loads from global memory with bounds checks",
              "first version in most courses", IMGPIPE_CUDA_VARIANT(smooth_naive), {.grid = Grid::covering}),
      variant("tile",
              "a tile and its margin in shared memory: a pixel is fetched once per block, checks everywhere",
              "Podlozhnyuk 2007, image convolution with CUDA", IMGPIPE_CUDA_VARIANT(smooth_tile)),
      variant("specialised", "tiles inside the image without a check, a separate kernel for the border",
              "van Werkhoven et al. 2011, adaptive tiling and border handling",
              IMGPIPE_CUDA_VARIANT(smooth_specialised)),
      variant(
          "separable",
          "running sums along rows, then down columns: 4 additions per pixel, but the sums go through memory",
          "McDonnell 1981, box filtering", IMGPIPE_CUDA_VARIANT(smooth_separable),
          {.scratch_bytes = IMGPIPE_IF_CUDA(smooth_separable_bytes)}),
      baseline_variant("npp", "nppiFilterBoxBorder_8u_C1R, 5x5, with different rounding and border",
                       "NVIDIA Performance Primitives", IMGPIPE_CUDA_VARIANT(smooth_npp),
                       {.claim = Claim::near, .grid = Grid::own, .wide = false, .needs_npp = true}),
      variant("production",
              "8 columns per thread, sums of five rows in registers by byte dot products; border in the same "
              "launch",
              "imgpipe", IMGPIPE_CUDA_VARIANT(smooth_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// equalize is bound by memory (1 byte in and 1 out per pixel). Variants differ in which thread makes the
// table of 256 results, and where the table is stored.
std::span<const StageVariant> equalize_ladder() {
  constexpr VariantConditions kScratch{.scratch_bytes = IMGPIPE_IF_CUDA(equalize_scratch_bytes)};
  static constexpr std::array kVariants{
      variant("sequential", "one thread; a table of 256 results, then a look-up for each pixel",
              "Gonzalez and Woods, Digital Image Processing, 3.3.1",
              IMGPIPE_HOST_VARIANT(equalize_reference)),
      variant("cpu-division", "threads, the formula for each pixel: a division, a product, a rounding",
              "first version in most courses", IMGPIPE_HOST_VARIANT(equalize_by_division)),
      variant("cpu-table", "threads, each with a private table, pixel by pixel",
              "look-up table, as cv::equalizeHist", IMGPIPE_HOST_VARIANT(equalize_by_table)),
      variant("cpu", "the table made once; 64 look-ups at a time where vectors are long enough: --device cpu",
              "imgpipe; Highway", IMGPIPE_HOST_VARIANT(equalize_cpu)),
      variant("division", "one thread sums the counts, then one thread per pixel with a division each",
              "first version in most courses", IMGPIPE_CUDA_VARIANT(equalize_division),
              {.scratch_bytes = IMGPIPE_IF_CUDA(equalize_scratch_bytes), .grid = Grid::covering}),
      variant("serial-table",
              "one thread makes a table in global memory, then 4 look-ups per thread: one thread on a GPU "
              "is slow",
              "look-up table, as cv::LUT", IMGPIPE_CUDA_VARIANT(equalize_serial_table), kScratch),
      variant("scan-table", "the same, the table by a block's prefix sum",
              "Hillis and Steele 1986; Harris, Sengupta and Owens 2007",
              IMGPIPE_CUDA_VARIANT(equalize_scan_table), kScratch),
      variant("constant", "the same, the table in constant memory, which gives a warp one address at a time",
              "CUDA C++ Best Practices Guide, constant memory", IMGPIPE_CUDA_VARIANT(equalize_constant),
              kScratch),
      variant("shared", "the same, the table copied into every block's shared memory",
              "CUDA C++ Best Practices Guide, shared memory", IMGPIPE_CUDA_VARIANT(equalize_shared),
              kScratch),
      variant("vectors", "the same, 16 pixels per thread and load", "Luitjens 2013, vectorized memory access",
              IMGPIPE_CUDA_VARIANT(equalize_vectors), kScratch),
      variant("counted",
              "hist, table and look-up, three kernels: the total cost where the counts do not exist yet",
              "NVIDIA, equalisation by three kernels as in NPP and OpenCV",
              IMGPIPE_CUDA_VARIANT(equalize_counted), kScratch),
      variant("cooperative", "the same in one launch, all blocks waiting for the counts in the middle",
              "CUDA C++ Programming Guide, grid synchronization", IMGPIPE_CUDA_VARIANT(equalize_cooperative),
              {.scratch_bytes = IMGPIPE_IF_CUDA(equalize_scratch_bytes), .grid = Grid::own}),
      variant("production",
              "every block makes the table while its first pixels are in flight: no separate kernel",
              "imgpipe", IMGPIPE_CUDA_VARIANT(equalize_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// clahe is bound by memory: it reads each byte twice and writes one. It also needs one histogram per tile,
// and four lookups and three interpolations per pixel.
std::span<const StageVariant> clahe_ladder() {
  static constexpr std::array kVariants{
      variant("sequential", "one thread: the tables tile by tile, then four look-ups per pixel",
              "Zuiderveld 1994, Graphics Gems IV", IMGPIPE_HOST_VARIANT(clahe_reference)),
      variant("cpu-apart",
              "threads, each making all tables: nothing to wait for, every thread counts everything",
              "first version with threads", IMGPIPE_HOST_VARIANT(clahe_tables_per_share)),
      variant("cpu-pixels", "the tiles divided among the threads, then the rows, pixel by pixel",
              "cv::CLAHE's two parallel loops", IMGPIPE_HOST_VARIANT(clahe_interpolate_pixels)),
      variant("cpu", "the same in SIMD: --device cpu", "imgpipe; Highway", IMGPIPE_HOST_VARIANT(clahe_cpu)),
      variant(
          "naive",
          "counted by atomic additions in global memory, a table by one thread, then one thread per pixel",
          "first version in most courses", IMGPIPE_CUDA_VARIANT(clahe_naive),
          {.scratch_bytes = IMGPIPE_IF_CUDA(clahe_scratch_bytes), .grid = Grid::covering}),
      variant(
          "block-a-tile",
          "a block counts a tile in shared memory and makes its table by a prefix sum: no more blocks than "
          "tiles",
          "cv::cuda::CLAHE", IMGPIPE_CUDA_VARIANT(clahe_block_a_tile),
          {.scratch_bytes = IMGPIPE_IF_CUDA(clahe_scratch_bytes), .grid = Grid::covering}),
      variant("words", "the same, 4 pixels per thread: a row's mixture is computed once for them",
              "Luitjens 2013, vectorized memory access", IMGPIPE_CUDA_VARIANT(clahe_words),
              {.scratch_bytes = IMGPIPE_IF_CUDA(clahe_scratch_bytes)}),
      variant(
          "production",
          "many blocks per tile; the results of the four tiles around a cell in one word of shared memory",
          "imgpipe", IMGPIPE_CUDA_VARIANT(clahe_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

// median is bound by memory (1 byte in and 1 out per pixel). The obstacle is selecting the middle one of 9 or
// 25 samples; variants differ in how much of that work neighbouring pixels share.
std::span<const StageVariant> median_ladder() {
  static constexpr std::array kVariants{
      variant("sequential", "one thread, std::nth_element for each pixel, each coordinate checked",
              "Tukey 1977; Hoare 1961, Find", IMGPIPE_HOST_VARIANT(median_reference)),
      variant("cpu-insertion", "threads; the window is sorted by insertion and the middle value returned",
              "Knuth, The Art of Computer Programming 3, 5.2.1", IMGPIPE_HOST_VARIANT(median_insertion)),
      variant("cpu-select", "the same, sorted only up to the middle (std::nth_element)",
              "Hoare 1961, Find; Musser 1997, introselect", IMGPIPE_HOST_VARIANT(median_select)),
      variant("cpu-sliding",
              "a histogram slides along the row: a column in, a column out, and the median moves a little",
              "Huang, Yang and Tang 1979", IMGPIPE_HOST_VARIANT(median_sliding)),
      variant("cpu-constant",
              "histograms of columns slide down, their sum slides along: the same work for every radius",
              "Perreault and Hebert 2007", IMGPIPE_HOST_VARIANT(median_constant_time)),
      variant("cpu-network",
              "a fixed list of exchanges by minimum and maximum: no branch that noise makes unpredictable",
              "Paeth 1990; Devillard 1998", IMGPIPE_HOST_VARIANT(median_exchanges)),
      variant("cpu", "the exchanges in SIMD, each column sorted once for all its windows: --device cpu",
              "imgpipe; Highway; Kolte et al. 1999", IMGPIPE_HOST_VARIANT(median_cpu)),
      variant("naive",
              "one thread per pixel, its window from global memory, sorted by insertion in local memory",
              "first version in most courses", IMGPIPE_CUDA_VARIANT(median_naive), {.grid = Grid::covering}),
      variant("tile", "the same from a tile in shared memory: loading was not the bottleneck",
              "Podlozhnyuk 2007, image convolution with CUDA", IMGPIPE_CUDA_VARIANT(median_tile)),
      variant(
          "forgetful",
          "in registers: among a few more than half of the samples the least and the greatest cannot be the "
          "median, so both are dropped and the next sample is added",
          "Paeth 1990; McGuire 2008, ShaderX6", IMGPIPE_CUDA_VARIANT(median_forgetful)),
      variant("network",
              "in registers: columns sorted, then the list of exchanges that finds their middle one",
              "Kolte, Smith and Su 1999; Devillard 1998", IMGPIPE_CUDA_VARIANT(median_network)),
      variant("columns",
              "four pixels per thread, whose windows share sorted columns; loads and stores of 4 bytes",
              "Adams 2021, separable sorting networks", IMGPIPE_CUDA_VARIANT(median_columns),
              {.grid = Grid::own}),
      variant("bytes",
              "four pixels per word, minima and maxima of bytes: few registers, but no instruction for them",
              "CUDA Math API, SIMD intrinsics (__vminu4)", IMGPIPE_CUDA_VARIANT(median_bytes),
              {.grid = Grid::own}),
      variant(
          "production",
          "pixels of two rows per word, minima and maxima of halves, available from compute capability 9.0",
          "imgpipe", IMGPIPE_CUDA_VARIANT(median_cuda), {.grid = Grid::own}),
  };
  return kVariants;
}

}  // namespace imgpipe

// The ladder of contrast. Its floor is memory too: a byte in and a byte out.
#include "lab/kernels/contrast_ladder.h"

#include <array>

#include "kernels/contrast/contrast.h"
#include "lab/kernels/cuda_rung.h"

namespace imgpipe {

std::span<const Rung> contrast_ladder() {
  static constexpr std::array kLadder{
      Rung{.name = "sequential",
           .idea = "one thread, one pixel after the other, a division each",
           .origin = "Gonzalez and Woods, Digital Image Processing, 3.2.4",
           .reference = contrast_reference},
      Rung{.name = "cpu",
           .idea = "SIMD on bands of rows, one for each thread: what --device cpu runs",
           .origin = "imgpipe; Highway",
           .cpu = contrast_cpu},
      Rung{.name = "naive",
           .idea = "a thread a pixel down a column, branches at lo and hi, a division",
           .origin = "first attempt of every course",
           .launch = IMGPIPE_CUDA_RUNG(contrast_naive),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes),
           .grid = Grid::covering},
      Rung{.name = "coalesced",
           .idea = "neighbouring threads on neighbouring pixels",
           .origin = "CUDA C++ Best Practices Guide, coalesced access",
           .launch = IMGPIPE_CUDA_RUNG(contrast_coalesced),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes),
           .grid = Grid::covering},
      Rung{.name = "words",
           .idea = "4 pixels a thread, one load and one store of 4 bytes",
           .origin = "Luitjens 2013, vectorized memory access",
           .launch = IMGPIPE_CUDA_RUNG(contrast_words),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes)},
      Rung{.name = "branch-free",
           .idea = "min and max in place of branches, a multiplication in place of the division",
           .origin = "Granlund and Montgomery 1994, division by invariant integers",
           .launch = IMGPIPE_CUDA_RUNG(contrast_branch_free),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes)},
      Rung{.name = "table",
           .idea = "each block makes a table of all 256 answers in shared memory: no arithmetic, a look-up a "
                   "pixel",
           .origin = "look-up table, as cv::LUT",
           .launch = IMGPIPE_CUDA_RUNG(contrast_table),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes)},
      Rung{.name = "production",
           .idea = "16 pixels a load and two loads on their way; every block finds lo and hi itself: no "
                   "kernel before",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(contrast_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

// The same with 65,536 values, which are a large table.
std::span<const Rung> contrast16_ladder() {
  const std::span<const Rung> narrow = contrast_ladder();
  static const std::array kLadder{
      with_reference(same_rung(narrow, "sequential"), contrast16_reference),
      with_cpu(same_rung(narrow, "cpu"), contrast16_cpu),
      same_rung(narrow, "naive"),
      same_rung(narrow, "coalesced"),
      Rung{.name = "words",
           .idea = "2 pixels a thread, one load and one store of 4 bytes",
           .origin = "Luitjens 2013, vectorized memory access",
           .launch = IMGPIPE_CUDA_RUNG(contrast_words),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes)},
      Rung{.name = "branch-free",
           .idea = "no branches, and a product of 32 and 50 bits in place of the division",
           .origin = "Granlund and Montgomery 1994, division by invariant integers",
           .launch = IMGPIPE_CUDA_RUNG(contrast_branch_free),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes)},
      Rung{.name = "table",
           .idea =
               "each block makes a table of all 65,536 answers in shared memory: more to make than a small "
               "image has pixels",
           .origin = "look-up table, as cv::LUT",
           .launch = IMGPIPE_CUDA_RUNG(contrast_table),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(contrast_range_bytes),
           .shared_bytes = kContrastTableBytes},
      Rung{.name = "production",
           .idea =
               "the product, 16 bytes a load and two loads on their way; a cluster of blocks finds lo and hi",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(contrast16_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

}  // namespace imgpipe

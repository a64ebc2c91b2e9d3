// The ladder of smooth. A byte in and a byte out is its floor; 25 loads a pixel are what stands before it.
#include "lab/kernels/smooth_ladder.h"

#include <array>

#include "kernels/smooth/smooth.h"
#include "lab/kernels/cuda_rung.h"

namespace imgpipe {

std::span<const Rung> smooth_ladder() {
  static constexpr std::array kLadder{
      Rung{.name = "sequential",
           .idea = "one thread, 25 taps for each pixel, each coordinate checked",
           .origin = "Gonzalez and Woods, Digital Image Processing, 3.5",
           .reference = smooth_reference},
      Rung{.name = "cpu",
           .idea = "SIMD, sums along rows and then down columns, on bands of rows: what --device cpu runs",
           .origin = "imgpipe; Highway",
           .cpu = smooth_cpu},
      Rung{.name = "naive",
           .idea = "a thread a pixel, 25 loads from global memory behind bounds checks",
           .origin = "first attempt of every course",
           .launch = IMGPIPE_CUDA_RUNG(smooth_naive),
           .grid = Grid::covering},
      Rung{.name = "tile",
           .idea =
               "a tile and its margin in shared memory: a pixel is fetched once a block, checks everywhere",
           .origin = "Podlozhnyuk 2007, image convolution with CUDA",
           .launch = IMGPIPE_CUDA_RUNG(smooth_tile)},
      Rung{.name = "specialised",
           .idea = "tiles inside the image without a check, the border by a kernel of its own",
           .origin = "van Werkhoven et al. 2011, adaptive tiling and border handling",
           .launch = IMGPIPE_CUDA_RUNG(smooth_specialised)},
      Rung{.name = "separable",
           .idea = "running sums along rows, then down columns: 4 additions a pixel, but the sums go through "
                   "memory",
           .origin = "McDonnell 1981, box filtering",
           .launch = IMGPIPE_CUDA_RUNG(smooth_separable),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(smooth_separable_bytes)},
      Rung{.name = "npp",
           .idea = "nppiFilterBoxBorder_8u_C1R, 5x5, its own rounding and border",
           .origin = "NVIDIA Performance Primitives",
           .launch = IMGPIPE_CUDA_RUNG(smooth_npp),
           .claim = Claim::near,
           .grid = Grid::own,
           .wide = false,
           .needs_npp = true,
           .foreign = true},
      Rung{.name = "production",
           .idea = "a thread 8 columns, sums of five rows in registers by byte dot products; border in the "
                   "same launch",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(smooth_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

// The same with samples of two bytes, whose sums take words of their own.
std::span<const Rung> smooth16_ladder() {
  const std::span<const Rung> narrow = smooth_ladder();
  static const std::array kLadder{
      with_reference(same_rung(narrow, "sequential"), smooth16_reference),
      with_cpu(same_rung(narrow, "cpu"), smooth16_cpu),
      same_rung(narrow, "naive"),
      same_rung(narrow, "tile"),
      same_rung(narrow, "specialised"),
      Rung{.name = "production",
           .idea = "a thread 4 columns, sums of five rows in registers by dot products of two samples",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(smooth16_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

}  // namespace imgpipe

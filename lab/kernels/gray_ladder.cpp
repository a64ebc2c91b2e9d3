// The ladder of gray. Its floor is memory: 3 bytes in and 1 out for every pixel, whatever is computed
// between.
#include "lab/kernels/gray_ladder.h"

#include <array>

#include "kernels/gray/gray.h"
#include "lab/kernels/cuda_rung.h"

namespace imgpipe {

std::span<const Rung> gray_ladder() {
  static constexpr std::array kLadder{
      Rung{.name = "sequential",
           .idea = "one thread, one pixel after the other: what every other rung is compared with",
           .origin = "ITU-R BT.601-7",
           .reference = gray_reference},
      Rung{.name = "cpu",
           .idea = "SIMD on bands of rows, one for each thread: what --device cpu runs",
           .origin = "imgpipe; Highway",
           .cpu = gray_cpu},
      Rung{.name = "naive",
           .idea =
               "a thread a pixel, byte by byte, neighbouring threads down a column: a warp touches 32 rows",
           .origin = "first attempt of every course",
           .launch = IMGPIPE_CUDA_RUNG(gray_naive),
           .grid = Grid::covering},
      Rung{.name = "coalesced",
           .idea = "neighbouring threads on neighbouring pixels: a warp's loads fall into few cache lines",
           .origin = "CUDA C++ Best Practices Guide, coalesced access",
           .launch = IMGPIPE_CUDA_RUNG(gray_coalesced),
           .grid = Grid::covering},
      Rung{.name = "words",
           .idea = "4 pixels a thread in 3 loads of 4 bytes: a quarter of the memory instructions",
           .origin = "Luitjens 2013, vectorized memory access",
           .launch = IMGPIPE_CUDA_RUNG(gray_words)},
      Rung{.name = "vectors",
           .idea = "16 pixels a thread in 3 loads of 16 bytes, the widest there are",
           .origin = "Luitjens 2013",
           .launch = IMGPIPE_CUDA_RUNG(gray_vectors)},
      Rung{.name = "fused",
           .idea =
               "gray and hist in one pass (what --fuse runs): the second reading of the grey plane is saved",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(gray_hist_cuda),
           .grid = Grid::own,
           .counts_too = true},
      Rung{.name = "npp",
           .idea = "nppiColorToGray_8u_C3C1R with the same weights as floats",
           .origin = "NVIDIA Performance Primitives",
           .launch = IMGPIPE_CUDA_RUNG(gray_npp),
           .claim = Claim::near,
           .grid = Grid::own,
           .wide = false,
           .needs_npp = true,
           .foreign = true},
      Rung{.name = "production",
           .idea = "a warp 512 pixels of a row, two dot products of bytes a pixel, no block stays",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(gray_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

// The same with twice the bytes a pixel.
std::span<const Rung> gray16_ladder() {
  const std::span<const Rung> narrow = gray_ladder();
  static const std::array kLadder{
      with_reference(same_rung(narrow, "sequential"), gray16_reference),
      with_cpu(same_rung(narrow, "cpu"), gray16_cpu),
      same_rung(narrow, "naive"),
      same_rung(narrow, "coalesced"),
      Rung{.name = "words",
           .idea = "2 pixels a thread in 3 loads of 4 bytes: half of the memory instructions",
           .origin = "Luitjens 2013, vectorized memory access",
           .launch = IMGPIPE_CUDA_RUNG(gray_words)},
      Rung{.name = "vectors",
           .idea = "8 pixels a thread in 3 loads of 16 bytes, the widest there are",
           .origin = "Luitjens 2013",
           .launch = IMGPIPE_CUDA_RUNG(gray_vectors)},
      Rung{.name = "production",
           .idea = "a warp 256 pixels of a row, no block stays; the luma is the upper half of a sum",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(gray16_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

}  // namespace imgpipe

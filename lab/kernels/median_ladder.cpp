// The ladder of median. A byte in and a byte out is its floor; what stands before it is the choice of the
// middle one of 9 or 25 samples, and how much of that choice neighbouring pixels can share.
#include "lab/kernels/median_ladder.h"

#include <array>

#include "lab/kernels/cuda_rung.h"

namespace imgpipe {

std::span<const Rung> median_ladder() {
  static constexpr std::array kLadder{
      Rung{.name = "sequential",
           .idea = "one thread, std::nth_element for each pixel, each coordinate checked",
           .origin = "Tukey 1977; Hoare 1961, Find",
           .reference = median_reference},
      Rung{.name = "cpu-insertion",
           .idea = "threads; the window is sorted by insertion and the middle one taken",
           .origin = "Knuth, The Art of Computer Programming 3, 5.2.1",
           .cpu = median_insertion},
      Rung{.name = "cpu-select",
           .idea = "the same, sorted no further than to the middle (std::nth_element)",
           .origin = "Hoare 1961, Find; Musser 1997, introselect",
           .cpu = median_select},
      Rung{.name = "cpu-sliding",
           .idea =
               "a histogram slides along the row: a column in, a column out, and the median moves a little",
           .origin = "Huang, Yang and Tang 1979",
           .cpu = median_sliding},
      Rung{.name = "cpu-constant",
           .idea = "histograms of columns slide down, their sum slides along: as much work for every radius",
           .origin = "Perreault and Hebert 2007",
           .cpu = median_constant_time},
      Rung{.name = "cpu-network",
           .idea = "a fixed list of exchanges by minimum and maximum: no branch that noise could mislead",
           .origin = "Paeth 1990; Devillard 1998",
           .cpu = median_exchanges},
      Rung{.name = "cpu",
           .idea = "the exchanges in SIMD, each column sorted once for all its windows: --device cpu",
           .origin = "imgpipe; Highway; Kolte et al. 1999",
           .cpu = median_cpu},
      Rung{.name = "naive",
           .idea = "a thread a pixel, its window from global memory, sorted by insertion in local memory",
           .origin = "first attempt of every course",
           .launch = IMGPIPE_CUDA_RUNG(median_naive),
           .grid = Grid::covering},
      Rung{.name = "tile",
           .idea = "the same from a tile in shared memory: loading was not what took the time",
           .origin = "Podlozhnyuk 2007, image convolution with CUDA",
           .launch = IMGPIPE_CUDA_RUNG(median_tile)},
      Rung{.name = "forgetful",
           .idea = "in registers: of a few more than half of the samples the least and the greatest are no "
                   "median, so both are forgotten and the next is taken in",
           .origin = "Paeth 1990; McGuire 2008, ShaderX6",
           .launch = IMGPIPE_CUDA_RUNG(median_forgetful)},
      Rung{.name = "network",
           .idea = "in registers: columns sorted, then the list of exchanges that finds their middle one",
           .origin = "Kolte, Smith and Su 1999; Devillard 1998",
           .launch = IMGPIPE_CUDA_RUNG(median_network)},
      Rung{.name = "columns",
           .idea = "four pixels a thread, whose windows share sorted columns; loads and stores of 4 bytes",
           .origin = "Adams 2021, separable sorting networks",
           .launch = IMGPIPE_CUDA_RUNG(median_columns),
           .grid = Grid::own},
      Rung{.name = "bytes",
           .idea =
               "four pixels a word, minima and maxima of bytes: few registers, but no instruction for them",
           .origin = "CUDA Math API, SIMD intrinsics (__vminu4)",
           .launch = IMGPIPE_CUDA_RUNG(median_bytes),
           .grid = Grid::own},
      Rung{.name = "production",
           .idea = "two rows' pixels a word, minima and maxima of halves, which compute capability 9.0 has",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(median_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

}  // namespace imgpipe

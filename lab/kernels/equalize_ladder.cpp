// The ladder of equalize. A byte in and a byte out is its floor; the question is who makes the table of 256
// answers, and where it lies.
#include "lab/kernels/equalize_ladder.h"

#include <array>

#include "lab/kernels/cuda_rung.h"

namespace imgpipe {
namespace {

// Every pixel divides.
void divide_pixels(const StageCall<Host>& call, const Band& band) {
  const ConstHostPlane in = call.in.plane<Sample>(0);
  const HostPlane out = call.out.plane<Sample>(0);
  const std::uint64_t* counts = call.histogram.row(0);
  std::array<std::uint64_t, kBins> not_above{};
  std::uint64_t samples = 0;
  for (std::size_t v = 0; v < kBins; ++v) not_above[v] = samples += counts[v];
  std::size_t least = 0;
  while (counts[least] == 0) ++least;
  const std::uint64_t others = samples - counts[least];
  for (std::int64_t y = band.first; y < band.end; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      const Sample value = in.row(y)[x];
      out.row(y)[x] = others == 0
                          ? value
                          : static_cast<Sample>(equalized(not_above[value] - counts[least],
                                                          equalize_scale(kMaxSample, others), kMaxSample));
    }
  }
}

// The table is made by every band, and every pixel is a look-up.
void look_up_pixels(const StageCall<Host>& call, const Band& band) {
  const ConstHostPlane in = call.in.plane<Sample>(0);
  const HostPlane out = call.out.plane<Sample>(0);
  std::array<Sample, kBins> table{};
  equalize_table(call.histogram.row(0), table.data());
  for (std::int64_t y = band.first; y < band.end; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = table[in.row(y)[x]];
  }
}

}  // namespace

std::span<const Rung> equalize_ladder() {
  static constexpr std::array kLadder{
      Rung{.name = "sequential",
           .idea = "one thread; a table of 256 answers, then a look-up for each pixel",
           .origin = "Gonzalez and Woods, Digital Image Processing, 3.3.1",
           .reference = equalize_reference},
      Rung{.name = "cpu-division",
           .idea = "threads, the formula for each pixel: a division, a product, a rounding",
           .origin = "first attempt of every course",
           .cpu = divide_pixels},
      Rung{.name = "cpu-table",
           .idea = "threads, each with a table of its own, pixel by pixel",
           .origin = "look-up table, as cv::equalizeHist",
           .cpu = look_up_pixels},
      Rung{.name = "cpu",
           .idea = "the table made once; 64 look-ups at a time where vectors are that long: --device cpu",
           .origin = "imgpipe; Highway",
           .cpu = equalize_cpu},
      Rung{.name = "division",
           .idea = "one thread sums the counts up, then a thread a pixel with a division each",
           .origin = "first attempt of every course",
           .launch = IMGPIPE_CUDA_RUNG(equalize_division),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes),
           .grid = Grid::covering},
      Rung{.name = "serial-table",
           .idea =
               "one thread makes a table in global memory, then 4 pixels a thread look up: one thread on a "
               "GPU is slow",
           .origin = "look-up table, as cv::LUT",
           .launch = IMGPIPE_CUDA_RUNG(equalize_serial_table),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes)},
      Rung{.name = "scan-table",
           .idea = "the same, the table by a block's prefix sum",
           .origin = "Hillis and Steele 1986; Harris, Sengupta and Owens 2007",
           .launch = IMGPIPE_CUDA_RUNG(equalize_scan_table),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes)},
      Rung{.name = "constant",
           .idea = "the same, the table in constant memory, which gives a warp one address at a time",
           .origin = "CUDA C++ Best Practices Guide, constant memory",
           .launch = IMGPIPE_CUDA_RUNG(equalize_constant),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes)},
      Rung{.name = "shared",
           .idea = "the same, the table copied into every block's shared memory",
           .origin = "CUDA C++ Best Practices Guide, shared memory",
           .launch = IMGPIPE_CUDA_RUNG(equalize_shared),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes)},
      Rung{.name = "vectors",
           .idea = "the same, 16 pixels a thread and load",
           .origin = "Luitjens 2013, vectorized memory access",
           .launch = IMGPIPE_CUDA_RUNG(equalize_vectors),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes)},
      Rung{.name = "counted",
           .idea = "hist, table and look-up, three kernels: what the whole costs where nobody has counted",
           .origin = "NVIDIA, equalisation by three kernels as in NPP and OpenCV",
           .launch = IMGPIPE_CUDA_RUNG(equalize_counted),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes)},
      Rung{.name = "cooperative",
           .idea = "the same in one launch, all blocks waiting for the counts in the middle",
           .origin = "CUDA C++ Programming Guide, grid synchronization",
           .launch = IMGPIPE_CUDA_RUNG(equalize_cooperative),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(equalize_scratch_bytes),
           .grid = Grid::own},
      Rung{.name = "production",
           .idea =
               "every block makes the table for itself while its first pixels are on their way: no kernel "
               "before",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(equalize_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

}  // namespace imgpipe

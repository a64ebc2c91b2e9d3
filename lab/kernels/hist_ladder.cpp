// The ladder of hist. Reading is cheap (a byte a pixel); counting is not: a count is a load, an addition and
// a store, and pixels of one value want the same counter at the same time. Every rung is an answer to that.
#include "lab/kernels/hist_ladder.h"

#include <array>

#include "kernels/hist/hist.h"
#include "lab/kernels/cuda_rung.h"

namespace imgpipe {
namespace {

// Add the counts of their part to the histogram.
template <class T>
void hist_private(const StageCall<Host>& call, const Band& band) {
  const auto plane = call.in.plane<T>(0);
  std::uint64_t* counts = call.histogram.row(0);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const T* row = plane.row(y - band.in_top);
    for (std::int64_t x = 0; x < plane.width; ++x) ++counts[row[x]];
  }
}

template <class T>
void hist_bin_range(const StageCall<Host>& call, const Share& share) {
  constexpr std::int64_t kValues = kLargest<T> + 1;
  const auto plane = call.in.plane<T>(0);
  std::uint64_t* counts = call.histogram.row(0);
  const auto first = static_cast<int>(kValues * share.index / share.count);
  const auto bins = static_cast<unsigned>(kValues * (share.index + 1) / share.count - first);
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t x = 0; x < plane.width; ++x) {
      const int value = plane.row(y)[x];
      if (static_cast<unsigned>(value - first) < bins) ++counts[value];
    }
  }
}

}  // namespace

std::span<const Rung> hist_ladder() {
  static constexpr std::array kLadder{
      Rung{.name = "sequential",
           .idea = "one thread, one pixel after the other",
           .origin = "Gonzalez and Woods, Digital Image Processing, 3.3",
           .reference = hist_reference},
      Rung{.name = "cpu-private",
           .idea = "threads, each with a full histogram of its own for a band of rows; merged at the end",
           .origin = "reduction by privatisation; libvips start, scan, merge",
           .cpu = hist_private<Sample>},
      Rung{.name = "cpu-bins",
           .idea =
               "threads, each a range of bins over the whole input: nothing to merge, everything read by all",
           .origin = "owner-computes partition of the bins",
           .share = hist_bin_range<Sample>},
      Rung{.name = "cpu",
           .idea = "as cpu-private, 16 tables in turn a thread, so that equal neighbours do not wait: "
                   "--device cpu",
           .origin = "imgpipe; several tables as in Collet's FiniteStateEntropy",
           .cpu = hist_cpu},
      Rung{.name = "global",
           .idea = "atomic additions in global memory, a thread a pixel",
           .origin = "first attempt of every course",
           .launch = IMGPIPE_CUDA_RUNG(hist_global),
           .grid = Grid::covering},
      Rung{.name = "global-stride",
           .idea = "the same, the grid strides over the image: threads are made once",
           .origin = "Harris 2013, grid-stride loops",
           .launch = IMGPIPE_CUDA_RUNG(hist_global_stride)},
      Rung{.name = "global-chunk",
           .idea = "the same, a contiguous run of pixels a thread: as on a CPU, and nothing coalesces",
           .origin = "CPU code carried over",
           .launch = IMGPIPE_CUDA_RUNG(hist_global_chunk)},
      Rung{.name = "global-chunk-words",
           .idea = "the same, 4 pixels a load",
           .origin = "Luitjens 2013, vectorized memory access",
           .launch = IMGPIPE_CUDA_RUNG(hist_global_words)},
      Rung{
          .name = "shared",
          .idea = "block partition: a histogram a block in shared memory, added to the global one at the end",
          .origin = "Podlozhnyuk 2007; Milakov 2015, shared atomics",
          .launch = IMGPIPE_CUDA_RUNG(hist_shared)},
      Rung{.name = "shared-words",
           .idea = "the same, 4 pixels a load",
           .origin = "Luitjens 2013",
           .launch = IMGPIPE_CUDA_RUNG(hist_shared_words)},
      Rung{.name = "shared-vectors",
           .idea = "the same, 16 pixels a thread and load",
           .origin = "Luitjens 2013",
           .launch = IMGPIPE_CUDA_RUNG(hist_shared_vectors)},
      Rung{
          .name = "local",
          .idea =
              "256 counters a thread in local memory: no contention, and a kilobyte to move for every thread",
          .origin = "privatisation taken to the thread",
          .launch = IMGPIPE_CUDA_RUNG(hist_local)},
      Rung{.name = "local-reduced",
           .idea = "the same, the threads' counters added up in shared memory before the global ones",
           .origin = "block-level reduction",
           .launch = IMGPIPE_CUDA_RUNG(hist_local_reduced)},
      Rung{.name = "linear",
           .idea = "a block a value, which reads the whole image and counts in registers: no atomics at all",
           .origin = "one colour per block",
           .launch = IMGPIPE_CUDA_RUNG(hist_linear),
           .grid = Grid::one_a_bin},
      Rung{.name = "threads-64",
           .idea =
               "byte counters of each thread in shared memory, no atomics, 64 bins; a second kernel merges",
           .origin = "Podlozhnyuk 2007, histogram64 of the CUDA samples",
           .launch = IMGPIPE_CUDA_RUNG(hist_threads_64),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(hist_threads_64_bytes),
           .most_threads = 512,
           .bins = 64},
      Rung{.name = "threads-256",
           .idea = "the same with all 256 bins: four times the room a thread, so a quarter of the threads",
           .origin = "Nugteren et al. 2011; Shams and Kennedy 2007",
           .launch = IMGPIPE_CUDA_RUNG(hist_threads_256),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(hist_threads_256_bytes),
           .most_threads = 128},
      Rung{.name = "columns",
           .idea = "four counters of a value side by side, taken in turn by neighbouring lanes: a quarter "
                   "collides",
           .origin = "Gomez-Luna et al. 2013, interleaved copies",
           .launch = IMGPIPE_CUDA_RUNG(hist_columns)},
      Rung{
          .name = "replicated",
          .idea =
              "eight histograms a block, one for every 4 lanes, padded so that equal values meet other banks",
          .origin = "Gomez-Luna et al. 2013, R-per-block",
          .launch = IMGPIPE_CUDA_RUNG(hist_replicated)},
      Rung{.name = "non-atomic",
           .idea = "shared-words without atomics: what they cost; its counts are wrong",
           .origin = "deliberate data race",
           .launch = IMGPIPE_CUDA_RUNG(hist_non_atomic),
           .claim = Claim::wrong},
      Rung{.name = "rgb",
           .idea = "interleaved RGB, three histograms of four columns in one pass",
           .origin = "3 x 256 bins, as OpenCV's and CUB's multi-channel histograms",
           .launch = IMGPIPE_CUDA_RUNG(hist_rgb),
           .interleaved = true},
      Rung{.name = "cub",
           .idea = "cub::DeviceHistogram::HistogramEven on the padded plane",
           .origin = "NVIDIA CUB",
           .launch = IMGPIPE_CUDA_RUNG(hist_cub),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(hist_cub_bytes),
           .collect = IMGPIPE_CUDA_RUNG(hist_collect),
           .grid = Grid::own,
           .foreign = true},
      Rung{.name = "npp",
           .idea = "nppiHistogramEven_8u_C1R",
           .origin = "NVIDIA Performance Primitives",
           .launch = IMGPIPE_CUDA_RUNG(hist_npp),
           .scratch_bytes = IMGPIPE_CUDA_RUNG(hist_npp_bytes),
           .collect = IMGPIPE_CUDA_RUNG(hist_collect),
           .grid = Grid::own,
           .wide = false,
           .needs_npp = true,
           .foreign = true},
      Rung{.name = "production",
           .idea = "32 columns, one a lane: a warp never meets itself, whatever the image; loads run ahead "
                   "of counting, from the last row up; a counter's place is one dot product",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(hist_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

// 65,536 counters of 32 bits are 256 KiB: more than a multiprocessor's shared memory. Where they lie is the
// question.
std::span<const Rung> hist16_ladder() {
  const std::span<const Rung> narrow = hist_ladder();
  static const std::array kLadder{
      with_reference(same_rung(narrow, "sequential"), hist16_reference),
      with_cpu(same_rung(narrow, "cpu-private"), hist_private<Sample16>),
      Rung{.name = "cpu-bins",
           .idea =
               "threads, each a range of bins over the whole input: nothing to merge, everything read by all",
           .origin = "owner-computes partition of the bins",
           .share = hist_bin_range<Sample16>},
      with_cpu(same_rung(narrow, "cpu"), hist16_cpu),
      same_rung(narrow, "global"),
      same_rung(narrow, "global-stride"),
      Rung{.name = "warp",
           .idea = "the same, lanes of a warp with one value find each other, and one of them adds for all",
           .origin = "Adinets 2014, warp-aggregated atomics",
           .launch = IMGPIPE_CUDA_RUNG(hist16_warp)},
      Rung{.name = "passes",
           .idea = "half of the counters in shared memory, so two blocks read every pixel, one for each half",
           .origin = "Brown and Snoeyink 2012, multiple passes over the bins",
           .launch = IMGPIPE_CUDA_RUNG(hist16_passes),
           .shared_bytes = kHalfBinsBytes},
      Rung{.name = "cluster",
           .idea =
               "the halves in the two blocks of a cluster: read once, and half of the additions go to the "
               "other block's shared memory",
           .origin = "CUDA C++ Programming Guide, distributed shared memory, histogram example",
           .launch = IMGPIPE_CUDA_RUNG(hist16_cluster),
           .shared_bytes = kHalfBinsBytes,
           .capability = 90},
      Rung{.name = "packed",
           .idea = "all counters in one block, two of 16 bits a word, emptied before 65,536 pixels can be in",
           .origin = "Podlozhnyuk 2007's byte counters, twice as wide",
           .launch = IMGPIPE_CUDA_RUNG(hist16_packed),
           .shared_bytes = kHalfBinsBytes},
      same_rung(narrow, "cub"),
      Rung{.name = "production",
           .idea = "counters two to a word that notice when they pass 16 bits, so they are emptied once; a "
                   "warp counts the values that it meets often apart; two blocks add up before device memory",
           .origin = "imgpipe",
           .cuda = IMGPIPE_CUDA_RUNG(hist16_cuda),
           .grid = Grid::own},
  };
  return kLadder;
}

}  // namespace imgpipe

// What the ladders' rungs run, in the order of their rows (lab/kernels/ladder_rows.cpp), apart from the
// functions of the product.
#pragma once

#include "lab/kernels/rung.h"

namespace imgpipe {

// On the processor.
using BandRung = void(const StageCall<Host>&, const Band&);
using ShareRung = void(const StageCall<Host>&, const Share&);
// On a CUDA device, and the scratch memory for it.
using CudaRung = CudaStatus(const StageCall<Device>&, const RungLaunch&);
using ScratchBytes = std::size_t(const FrameType&, const RungLaunch&);

// gray: interleaved RGB to one grey plane, of 8 or 16 bits; NPP's of 8.
CudaRung gray_naive, gray_coalesced, gray_words, gray_vectors, gray_npp;

// hist: one grey plane to its counts. On the processor they add the counts of their part.
template <class T>
void hist_private(const StageCall<Host>& call, const Band& band);
template <class T>
void hist_bin_range(const StageCall<Host>& call, const Share& share);
// Of 8 or 16 bits.
CudaRung hist_global, hist_global_stride;
// Of 8 bits; hist_rgb: interleaved RGB.
CudaRung hist_global_chunk, hist_global_words, hist_linear, hist_local, hist_local_reduced, hist_threads_64,
    hist_threads_256, hist_shared, hist_shared_words, hist_non_atomic, hist_shared_vectors, hist_replicated,
    hist_columns, hist_rgb;
ScratchBytes hist_threads_64_bytes, hist_threads_256_bytes;  // the blocks' histograms
// Of 16 bits. The last three take shared memory, this many bytes a block.
inline constexpr int kHalfBinsBytes = 32768 * 4;
CudaRung hist16_warp, hist16_passes, hist16_cluster, hist16_packed;
// The baselines count in 32 bits, at the beginning of their scratch; CUB's takes both types of samples.
// hist_collect() brings those counts to the stage's histogram.
CudaRung hist_cub, hist_npp, hist_collect;
ScratchBytes hist_cub_bytes, hist_npp_bytes;

// contrast: one grey plane of 8 or 16 bits, with its counts. Scratch of all: lo and hi.
inline constexpr int kContrastTableBytes = 65536 * 2;  // shared memory of the table of 16-bit samples
CudaRung contrast_naive, contrast_coalesced, contrast_words, contrast_branch_free, contrast_table;
ScratchBytes contrast_range_bytes;

// smooth, the box with Border::shrink: one grey plane of 8 bits, or 16 with the first three. Scratch: the
// sums along rows.
CudaRung smooth_naive, smooth_tile, smooth_specialised, smooth_separable, smooth_npp;
ScratchBytes smooth_separable_bytes;

// equalize: one grey plane of 8 bits, with its counts. Scratch of all: what the first kernel leaves for the
// second.
BandRung divide_pixels, look_up_pixels;
CudaRung equalize_division, equalize_serial_table, equalize_scan_table, equalize_constant, equalize_shared,
    equalize_vectors;
ScratchBytes equalize_scratch_bytes;
// These count `in` themselves: they do the work of hist as well.
CudaRung equalize_counted, equalize_cooperative;

// clahe: one grey plane of 8 bits. Scratch of all: counts and tables of all tiles.
ShareRung all_tables_each;
BandRung mix_pixels;
CudaRung clahe_naive, clahe_block_a_tile, clahe_words;
ScratchBytes clahe_scratch_bytes;

// median: one grey plane of 8 bits, windows of 3x3 and 5x5 by the call's parameters. On the processor for the
// rows of a band, of an input that is there as a whole.
BandRung median_insertion, median_select, median_exchanges, median_sliding, median_constant_time;
CudaRung median_naive, median_tile, median_forgetful, median_network;
CudaRung median_columns, median_bytes;  // with grids of their own

}  // namespace imgpipe

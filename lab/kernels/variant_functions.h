// The functions of the ladders' variants, in the order of their rows, except those of the product.
#pragma once

#include "lab/kernels/stage_variant.h"

namespace imgpipe {

// Functions on the host.
using BandVariant = void(const StageCall<Host>&, const Band&);
using ShareVariant = void(const StageCall<Host>&, const Share&);
// Functions on a CUDA device, and those that return the size of their scratch memory.
using CudaVariant = CudaStatus(const StageCall<Device>&, const VariantLaunch&);
using ScratchBytes = std::size_t(const FrameType&, const VariantLaunch&);

// gray: interleaved RGB to one grey plane of 8 or 16 bits; gray_npp: 8 bits.
CudaVariant gray_naive, gray_coalesced, gray_words, gray_vectors, gray_npp;

// hist: counts one grey plane. Host functions add the counts of their part.
template <class T>
void hist_private(const StageCall<Host>& call, const Band& band);
template <class T>
void hist_bin_range(const StageCall<Host>& call, const Share& share);
// 8 or 16 bits.
CudaVariant hist_global, hist_global_stride;
// 8 bits; hist_rgb takes interleaved RGB.
CudaVariant hist_global_chunk, hist_global_words, hist_linear, hist_local, hist_local_reduced,
    hist_threads_64, hist_threads_256, hist_shared, hist_shared_words, hist_non_atomic, hist_shared_vectors,
    hist_replicated, hist_columns, hist_rgb;
ScratchBytes hist_threads_64_bytes, hist_threads_256_bytes;  // the blocks' histograms
// 16 bits. The last three need this many bytes of shared memory per block.
inline constexpr int kHalfBinsBytes = 32768 * 4;
CudaVariant hist16_warp, hist16_passes, hist16_cluster, hist16_packed;
// The baselines count in 32 bits, at the start of their scratch; hist_collect() copies the counts to the
// stage's histogram. hist_cub takes 8 or 16 bits.
CudaVariant hist_cub, hist_npp, hist_collect;
ScratchBytes hist_cub_bytes, hist_npp_bytes;

// contrast: one grey plane of 8 or 16 bits, and its counts. Scratch: lo and hi.
inline constexpr int kContrastTableBytes = 65536 * 2;  // shared memory for the table of 16-bit samples
CudaVariant contrast_naive, contrast_coalesced, contrast_words, contrast_branch_free, contrast_table;
ScratchBytes contrast_range_bytes;

// smooth, the box with Border::shrink: one grey plane, 8 bits (the first three also 16). Scratch: row sums.
CudaVariant smooth_naive, smooth_tile, smooth_specialised, smooth_separable, smooth_npp;
ScratchBytes smooth_separable_bytes;

// equalize: one grey plane of 8 bits, and its counts. Scratch: the data passed from kernel to kernel.
BandVariant equalize_by_division, equalize_by_table;
CudaVariant equalize_division, equalize_serial_table, equalize_scan_table, equalize_constant, equalize_shared,
    equalize_vectors;
ScratchBytes equalize_scratch_bytes;
// These count `in` themselves, so they include the work of hist.
CudaVariant equalize_counted, equalize_cooperative;

// clahe: one grey plane of 8 bits. Scratch: counts and tables of all tiles.
ShareVariant clahe_tables_per_share;
BandVariant clahe_interpolate_pixels;
CudaVariant clahe_naive, clahe_block_a_tile, clahe_words;
ScratchBytes clahe_scratch_bytes;

// median: one grey plane of 8 bits; the call's parameters choose windows of 3x3 or 5x5. Host functions write
// the rows of a band, but read the whole input.
BandVariant median_insertion, median_select, median_exchanges, median_sliding, median_constant_time;
CudaVariant median_naive, median_tile, median_forgetful, median_network;
CudaVariant median_columns, median_bytes;  // determine their own grids

}  // namespace imgpipe

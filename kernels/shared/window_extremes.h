// The least or greatest samples of square windows of any radius, for the loops of host and device. Pixels
// outside the image are ignored. Replicating edge pixels gives the same result, because every window that
// extends beyond an edge contains the edge pixel too.
//
// Along a row: computes the extremes of 2, 4, 8, ... samples; two of these, which may overlap, make a window.
// Down the columns: a few operations per sample for any radius (van Herk, A Fast Algorithm for Local Minimum
// and Maximum Filters, 1992; Gil and Werman, 1993). Rows are processed in blocks as high as the window, each
// row in the next slot of a ring:
//
//   slots up to the latest   rows of this block; `so_far` has their extremes
//   slots after it           the previous block: the extremes of each row and all rows after it
//
// `so_far` and the next slot make a window. Once a block is complete, its rows are replaced by such extremes.
#pragma once

namespace imgpipe {

inline constexpr int kMaxExtremeRadius = 127;

}  // namespace imgpipe

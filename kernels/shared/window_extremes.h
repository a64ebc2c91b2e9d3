// The least or greatest samples of square windows of any radius, for the loops of host and device. Pixels
// outside the image do not count; edge pixels repeated outwards give the same, because every window that
// reaches beyond an edge holds the edge pixel too.
//
// Along a row: the extremes of 2, 4, 8, ... samples, then two of these, which may overlap, make a window.
// Down the columns: a few operations a sample whatever the radius (van Herk, A Fast Algorithm for Local
// Minimum and Maximum Filters, 1992; Gil and Werman, 1993). The rows come in blocks as high as the window,
// one by one into the slots of a ring:
//
//   slots before the latest   rows of this block; `so_far` has their extremes
//   slots behind it           of the block before: each the extreme of its row and all rows behind it
//
// `so_far` and the next slot make a window. When a block is complete its rows are replaced by such extremes.
#pragma once

namespace imgpipe {

inline constexpr int kMaxExtremeRadius = 127;

}  // namespace imgpipe

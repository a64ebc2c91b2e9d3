// PNG's row filters (PNG specification, third edition, 9), one row per call. Filtering uses SIMD;
// unfiltering, where a byte needs the one before it, works byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe {

// Writes the filter type byte and then the filtered row: 1 + size bytes to `out`.
//   row    `size` bytes, `pixel_bytes` (1..4, 6 or 8) per pixel
//   above  the row above it, or nullptr if it must not be used: then only None and Sub are tried
// Chooses the first of None, Sub, Up, Average and Paeth whose residuals, as signed bytes, have the least sum
// of absolute values (the heuristic of the specification, 12.7).
void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                    std::size_t pixel_bytes, std::uint8_t* out);

// The inverse: `filtered` holds `size` bytes without the type byte, `above` the unfiltered row above (zeros
// for the first row). Writes `size` bytes to `out`, which overlaps neither. Returns false for a type above 4.
[[nodiscard]] bool unfilter_png_row(unsigned type, const std::uint8_t* filtered, const std::uint8_t* above,
                                    std::size_t size, std::size_t pixel_bytes, std::uint8_t* out);

}  // namespace imgpipe

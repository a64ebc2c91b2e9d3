// PNG's row filters, encoder's side (PNG specification, third edition, 9): SIMD, one row a call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe {

// Writes the filter type byte and then the filtered row: 1 + size bytes to `out`.
//   row    `size` bytes of `pixel_bytes` (1..4) each
//   above  the row above it, or nullptr where that must not be used: then only None and Sub are tried
// The type is the one of None, Sub, Up, Average and Paeth whose residuals, read as signed bytes, have the
// least sum of absolute values (the heuristic of the specification, 12.7); the first of equals.
void filter_png_row(const std::uint8_t* row, const std::uint8_t* above, std::size_t size,
                    std::size_t pixel_bytes, std::uint8_t* out);

}  // namespace imgpipe

// Horizontal differencing (TIFF 6.0, section 14): each sample minus that of the previous pixel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe {

// Restore the first `pixels` pixels of a row, with `samples` samples of 8 or 16 bits per pixel. `swapped`:
// `in` has the other byte order; `out` has the host's. The buffers need no alignment, must not overlap, and
// are not accessed beyond those pixels.
void undo_differences(const std::byte* in, std::int64_t pixels, int samples, std::byte* out);
void undo_differences_16(const std::byte* in, std::int64_t pixels, int samples, bool swapped, std::byte* out);

}  // namespace imgpipe

// Horizontal differencing (TIFF 6.0, section 14): each sample less that of the pixel before it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe {

// Takes the differences out of the first `pixels` pixels of a row, of `samples` samples a pixel: 8 bits each,
// or 16 bits, with `swapped` in the other byte order than this machine's, which is what `out` gets. Nothing
// needs alignment; `in` and `out` do not overlap. No byte behind those pixels is read or written.
void undo_differences(const std::byte* in, std::int64_t pixels, int samples, std::byte* out);
void undo_differences_16(const std::byte* in, std::int64_t pixels, int samples, bool swapped, std::byte* out);

}  // namespace imgpipe

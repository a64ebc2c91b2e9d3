// Horizontal differencing (TIFF 6.0, section 14): each sample minus that of the previous pixel. The
// floating-point predictor (Adobe: TIFF Technical Note 3): the most significant bytes of all samples of a
// row, then the next bytes and so on; each byte minus the one of the previous pixel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe {

// Restore the first `pixels` pixels of a row, with `samples` samples of 8, 16 or 32 bits per pixel.
// `swapped`: `in` has the other byte order; `out` has the host's. The buffers need no alignment, must not
// overlap, and are not accessed beyond those pixels.
void undo_differences(const std::byte* in, std::int64_t pixels, int samples, std::byte* out);
void undo_differences_16(const std::byte* in, std::int64_t pixels, int samples, bool swapped, std::byte* out);
void undo_differences_32(const std::byte* in, std::int64_t pixels, int samples, bool swapped, std::byte* out);

// Restores a whole row of `pixels` pixels, with `samples` samples of `bytes` bytes per pixel, in the host's
// byte order. `scratch` has the size of the row.
void undo_float_prediction(const std::byte* in, std::int64_t pixels, int samples, int bytes,
                           std::byte* scratch, std::byte* out);
// Stores `pixels` pixels of floats in that form, in a row of `width` pixels; `out` must be 0 before.
void predict_floats(const std::byte* in, std::int64_t pixels, std::int64_t width, int samples,
                    std::byte* out);

}  // namespace imgpipe

// Plain PNG files: libpng reads everything before the pixels, the built-in reader the pixels.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

// Where open_plain_png() finds the pixels.
struct PlainPng {
  std::size_t first_idat = 0;    // offset of the first IDAT chunk
  std::size_t end_of_idats = 0;  // offset just past the last IDAT chunk
};

// Returns where the pixels are. Returns nullopt unless the file is complete from `first_idat` on, with
// consecutive IDAT chunks, then only IEND and chunks of types in `harmless` (four letters and a zero each).
[[nodiscard]] std::optional<PlainPng> plain_png(Bytes file, std::size_t first_idat,
                                                std::span<const unsigned char> harmless);
// Reads such a PNG. It must not be interlaced, and its samples (8 or 16 bits) must be those of the returned
// rows. `library`: a strict libpng reader that has accepted the header and returned no row yet.
[[nodiscard]] std::unique_ptr<Reader> open_plain_png(Bytes file, const PlainPng& plain,
                                                     std::unique_ptr<Reader> library);

}  // namespace imgpipe

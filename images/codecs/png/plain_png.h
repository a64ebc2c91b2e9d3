// The plain kind of PNG, which our own reader takes where libpng has judged what stands before the pixels.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

// Where the pixels of a PNG lie that open_plain_png() can read.
struct PlainPng {
  std::size_t first_idat = 0;    // of the file: the length field of the first IDAT chunk
  std::size_t end_of_idats = 0;  // behind the last of them
};

// The pixels of a PNG whose first IDAT chunk is at `first_idat`, if the file is complete from there, its IDAT
// chunks follow one another and are followed by IEND and chunks of the types `harmless` only (four letters
// and a zero each); else nullopt.
[[nodiscard]] std::optional<PlainPng> plain_png(Bytes file, std::size_t first_idat,
                                                std::span<const unsigned char> harmless);
// Reads such a PNG whose samples are the rows' (8 or 16 bits), not interlaced, whose header `library` has
// judged: a strict reader by libpng that has given no row yet.
[[nodiscard]] std::unique_ptr<Reader> open_plain_png(Bytes file, const PlainPng& plain,
                                                     std::unique_ptr<Reader> library);

}  // namespace imgpipe

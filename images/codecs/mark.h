// The mark in files written by imgpipe. A run replaces only files that have it.
//
//   "imgpipe NAME CONTENT OPTIONS"  a result: its Provenance, 16 lower-case hexadecimal digits each
//   "imgpipe"                       a plain result: no source name (a stream), or made by version 0.1.0
//   "imgpipe synth"                 a test image
//
//   PNG      a tEXt chunk "Software" after IHDR
//   JPEG     a COM segment after the JFIF header
//   PGM PPM  a comment after the signature
//   TGA      the image ID after the header
//   WebP     a chunk "IMGP" after VP8X
//   BMP      the four reserved bytes of the file header; plain marks only
//   PFM      the zeros of the scale factor; plain marks only
//   TIFF     the field Software of the first directory, at the front of the file
//   .npy     the white space at the end of the header; plain marks only
//   .safetensors  the text "software" of __metadata__
// A program that edits such a file and preserves its texts also preserves the mark.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "images/codecs/codec.h"

namespace imgpipe {

// Returns the text of a mark; empty for Mark::none.
[[nodiscard]] std::string mark_text(const Mark& mark);
// Parses the complete text of a mark.
[[nodiscard]] Mark mark_of(std::span<const std::byte> text);

// The maximum number of bytes from a file's start that find_mark() needs.
inline constexpr std::size_t kMarkBytes = 4096;

// Finds the mark of a file that begins with `head`; Mark::none if there is none or the file is damaged.
[[nodiscard]] Mark find_mark(std::span<const std::byte> head);

}  // namespace imgpipe

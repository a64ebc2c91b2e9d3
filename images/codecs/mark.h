// The mark that imgpipe's own files carry, so that a run replaces what a run has written and nothing else.
//
//   "imgpipe NAME CONTENT OPTIONS"  a result: its Provenance, 16 lower-case hexadecimal digits each
//   "imgpipe"                       a result whose source has no name (a stream), or of version 0.1.0: plain
//   "imgpipe synth"                 a test image
//
//   PNG      a tEXt chunk "Software" behind IHDR
//   JPEG     a COM segment behind the JFIF header
//   PGM PPM  a comment behind the signature
//   TGA      the image ID behind the header
//   WebP     a chunk "IMGP" behind VP8X
//   BMP      the four reserved bytes of the file header, which hold a plain mark only
//   TIFF     the field Software of the first directory, which stands in front
// A program that edits such a file and keeps its texts keeps the mark as well.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "images/codecs/codec.h"

namespace imgpipe {

// The text of a mark; empty for Mark::none.
[[nodiscard]] std::string mark_text(const Mark& mark);
// The mark whose text this is, whole.
[[nodiscard]] Mark mark_of(std::span<const std::byte> text);

// How many bytes from a file's start find_mark() needs at the most.
inline constexpr std::size_t kMarkBytes = 4096;

// The mark of a file of which `head` is the start. Mark::none for everything else, damaged files included.
[[nodiscard]] Mark find_mark(std::span<const std::byte> head);

}  // namespace imgpipe

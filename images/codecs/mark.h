// The mark that imgpipe's own files carry, so that a run replaces what a run has written and nothing else.
//
//   PNG      a tEXt chunk "Software" behind IHDR (PNG specification, third edition, 11.3.3.1)
//   JPEG     a COM segment behind the JFIF header (ITU-T T.81, B.2.4.5)
//   PGM PPM  a comment behind the signature (netpbm.sourceforge.net/doc/pgm.html)
//   TGA      the image ID behind the header (Truevision TGA 2.0, field 6)
//   BMP      the four reserved bytes of the file header, which are the writing program's (BITMAPFILEHEADER)
// A program that edits such a file and keeps its texts keeps the mark as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

// The text of a mark; of none there is none.
[[nodiscard]] std::string_view mark_text(Mark mark);

// The whole tEXt chunk of a PNG.
[[nodiscard]] std::vector<std::byte> png_mark(Mark mark);

// Puts a mark into a whole file of stb_image_write: JPEG, PNG, BMP or TGA.
void add_mark(std::vector<std::byte>& file, Format format, Mark mark);

// How many bytes from a file's start find_mark() needs at the most.
inline constexpr std::size_t kMarkBytes = 4096;

// The mark of a file of which `head` is the start. Mark::none for everything else, damaged files included.
[[nodiscard]] Mark find_mark(std::span<const std::byte> head);

}  // namespace imgpipe

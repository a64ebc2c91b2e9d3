// Pillow's rules for JPEG (its modules JpegImagePlugin, ImageFile and JpegDecode, 13.0.0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include <jpeglib.h>

#include "images/codecs/exif.h"

namespace imgpipe {

struct PillowJpegHeader {
  std::int64_t width = 0, height = 0;
  Orientation orientation = Orientation::upright;  // from EXIF or XMP
};

// Walks the segments up to the first scan header. Throws Error(input) where Pillow rejects the file.
[[nodiscard]] PillowJpegHeader read_pillow_jpeg_header(std::span<const std::byte> file);

// Feeds the file to libjpeg in blocks of 64 KiB, as Pillow does. The library suspends at the end of a block.
// The blocks matter for damaged files: an error after the last row counts only in a block already read.
struct PillowJpegSource {
  jpeg_source_mgr base;  // the first member: libjpeg returns a pointer to it
  const JOCTET* end;     // of the file
  std::size_t skipped;   // bytes to skip at the beginning of the next block
};

void set_pillow_source(jpeg_decompress_struct& decoder, PillowJpegSource& source,
                       std::span<const std::byte> file);
// Appends the next block after the library has suspended. Returns false at the end of the file.
[[nodiscard]] bool next_pillow_block(PillowJpegSource& source);

}  // namespace imgpipe

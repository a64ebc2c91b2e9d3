// Encodes arrays as image files. Everything here runs without the GIL.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/python/core/sources.h"
#include "images/codecs/codec.h"
#include "images/plane.h"

namespace imgpipe::python {

struct Encoding {
  Format format = Format::png;
  EncodeOptions options;
};

// Returns the program's options for a format, with the given values. `quality` makes a WebP lossy. Throws
// Error(usage) for values that the format does not support.
[[nodiscard]] Encoding make_encoding(Format format, std::optional<int> quality, std::optional<int> level);

// Returns the format of --format NAME or, if that is empty, of the path's extension. Throws Error(usage) if
// it is unknown or cannot be written, or if both name different formats.
[[nodiscard]] Format format_to_write(const std::string& name, const std::string& path);

// Adds the metadata of `from` that the program would preserve in an image of this shape, written in
// encoding.format. Since the stages are unknown, parts that describe sample values are dropped and, if the
// size differs, those that describe positions. Returns a line per loss. Throws like decode().
[[nodiscard]] std::vector<std::string> preserve_metadata(const Source& from, const Shape& shape,
                                                         Encoding& encoding);

// Throws Error(usage) if the file could hold the pixels only with a loss: fewer bits, no colour, no alpha.
void check_lossless(Format format, const Shape& shape);

// Throws like make_writer(), and Error(memory).
[[nodiscard]] EncodedFile encode(ConstHostView pixels, const Encoding& encoding, int threads);

}  // namespace imgpipe::python

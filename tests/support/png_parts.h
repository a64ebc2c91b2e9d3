// The parts of a PNG file: chunks and compressed data.
#pragma once

#include <string_view>

#include "tests/support/file_parts.h"

namespace imgpipe::test {

// Returns a chunk with its length and checksum.
[[nodiscard]] Bytes chunk(std::string_view type, const Bytes& data);
// Returns the data as a zlib stream.
[[nodiscard]] Bytes deflated(const Bytes& data);

}  // namespace imgpipe::test

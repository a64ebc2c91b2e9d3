// A parallel decoder of baseline JPEG. It makes the same pixels as libjpeg-turbo.
//
//   scan in chunks -> blocks of coefficients -> samples of an MCU row -> rows of pixels
//   (scan_chunks.h)                             (reconstruct.h)
//
// A thread that waits for rows decodes the next chunk meanwhile. Only data needed by begun bands is held.
//
// libjpeg-turbo alone decides what is valid, and has read the header. At any irregularity it decodes the file
// again from the first byte and provides the rows that are still missing. Rows returned before are the same:
// they do not depend on data after the first irregularity.
#pragma once

#include <cstddef>
#include <memory>

#include "images/codecs/jpeg/library_jpeg.h"
#include "images/codecs/jpeg/scan_chunks.h"

namespace imgpipe {

// Returns a reader of the image that `library` has opened, or `library` itself if this decoder does not
// support the image. `scan_chunk_bytes`: size of a chunk, kScanChunkBytes except in tests. Does not check
// that the library makes the same pixels (images/codecs/jpeg/library_check.h); open_jpeg() does.
[[nodiscard]] std::unique_ptr<Reader> make_baseline_reader(std::unique_ptr<LibraryJpeg> library,
                                                           std::size_t scan_chunk_bytes);

}  // namespace imgpipe

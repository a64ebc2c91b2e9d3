// The pages of a TIFF, cut out of the file one at a time (images/codecs/pages.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "images/codecs/pages.h"
#include "images/codecs/tiff/tiff_directory.h"

namespace imgpipe {

class InputFile;

// A file that begins with a TIFF header, and is read where it lies. Each directory is looked at once, so that
// the time grows with the number of pages and not with its square. A single directory whose description is
// ImageJ's, of N images, counts as N pages: their pixels follow one another without a gap and uncompressed
// (ImageJ's FileInfo and TiffEncoder; it writes stacks beyond 4 GB so).
// Throws Error(input), naming the page, where the chain leaves the file, comes back to itself or has more
// than 2^20 pages, and where the file ends before the last of ImageJ's; lenient: the pages before that are
// taken. `file` outlives what is returned.
[[nodiscard]] std::unique_ptr<Pages> open_tiff_pages(const InputFile& file, const DecodeOptions& options);

}  // namespace imgpipe

// Extracts the pages of a TIFF one at a time (images/codecs/pages.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "images/codecs/pages.h"
#include "images/codecs/tiff/tiff_directory.h"

namespace imgpipe {

class InputFile;

// Opens a TIFF, which must outlive the result. Visits each directory once, so the time is linear in the
// number of pages. A single directory with ImageJ's description of N images counts as N pages, contiguous and
// uncompressed (ImageJ's FileInfo and TiffEncoder, which writes stacks over 4 GB that way). Throws
// Error(input) with the page number if the chain leaves the file, forms a loop or has more than 2^20 pages,
// or if the file ends before ImageJ's last image; lenient: returns the pages before that.
//
// With DecodeOptions::bands_of_page, opens the bands of that page. Bands that are stored separately are read
// one at a time; otherwise each band's file is that of the whole page, which is held.
[[nodiscard]] std::unique_ptr<Pages> open_tiff_pages(const InputFile& file, const DecodeOptions& options);

}  // namespace imgpipe

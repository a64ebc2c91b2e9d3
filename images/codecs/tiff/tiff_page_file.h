// One page of a TIFF as a TIFF of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/pages.h"
#include "images/codecs/tiff/tiff_raw_directory.h"

namespace imgpipe {

struct TiffPageCut {
  std::uint64_t directory = 0;  // where the page's begins
  std::uint64_t shift = 0;      // added to where its pixels are
  Pages::Part part = Pages::Part::all;
  std::int64_t most_bytes = 0;  // that the page may have
};

// The file, in the layout and byte order of the one that it is cut out of:
//
//   header  directory  directories of EXIF  places of chunks  values and chunks, in the order of the first
//   file
//
// All fields are kept as they stand, with new places. Bytes that several fields or chunks share are there
// once, so that the page is no longer than the file, whatever its fields say. What lies outside the file lies
// outside the page: its reader judges it as it would judge the file. Throws Error(input) where the directory
// is damaged or the page has more bytes than it may, Error(memory).
[[nodiscard]] std::vector<std::byte> cut_tiff_page(const InputFile& file, const TiffLayout& layout,
                                                   const TiffPageCut& cut);

}  // namespace imgpipe

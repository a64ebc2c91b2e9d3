// Extracts one page of a TIFF as a standalone TIFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "images/codecs/pages.h"
#include "images/codecs/tiff/tiff_raw_directory.h"

namespace imgpipe {

struct TiffPageExtraction {
  std::uint64_t directory = 0;  // offset of the page's directory
  std::uint64_t shift = 0;      // added to the offsets of its pixels
  Pages::Part part = Pages::Part::all;
  std::int64_t max_bytes = 0;  // limit of the page's file
  // If set, and the samples are stored separately: omits the chunks of all samples but this one, from 0.
  std::optional<std::uint64_t> sample{};
};

// Returns the page's file, in the layout and byte order of the original:
//
//   header  directory  EXIF directories  chunk offsets  values and chunks, in the original order
//
// Copies all fields unchanged except for offsets. Copies bytes shared by several fields or chunks once, so
// the page is never longer than the file. Offsets outside the file stay outside the page, so that its reader
// reports the same errors; so do the offsets of omitted chunks. Throws Error(input) if the directory is
// damaged or the page too large.
[[nodiscard]] std::vector<std::byte> extract_tiff_page(const InputFile& file, const TiffLayout& layout,
                                                       const TiffPageExtraction& cut);

}  // namespace imgpipe

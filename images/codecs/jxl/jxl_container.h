// The container of JPEG XL (ISO/IEC 18181-2): the codestream and metadata in boxes, or a bare codestream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec_parts.h"

namespace imgpipe {

struct JxlContents {
  bool has_boxes = false;
  Bytes codestream;                                      // in the file, or in `joined`
  std::vector<std::byte> joined;                         // a codestream in several boxes
  Bytes exif, xmp;                                       // EXIF: from the TIFF header on; empty: none
  bool has_packed_exif = false, has_packed_xmp = false;  // compressed with Brotli
  std::vector<std::string> unread;                       // metadata in the file that is not read
  bool is_truncated = false;                             // the last box exceeds the file
};

[[nodiscard]] bool is_jxl(Bytes beginning);
// Walks the boxes without reading past the file. The codestream may be empty or damaged.
[[nodiscard]] JxlContents read_jxl_contents(Bytes file);
// Returns the EXIF block of an Exif box, after the offset in its first four bytes; empty if it is too short.
[[nodiscard]] Bytes jxl_exif(Bytes box);

}  // namespace imgpipe

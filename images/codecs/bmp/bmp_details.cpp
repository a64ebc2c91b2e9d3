// Describes how a BMP is stored, from its header.
#include <algorithm>
#include <string>

#include "images/codecs/bmp/bmp_header.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/icc.h"
#include "images/error.h"
#include "images/files/partial_file.h"

namespace imgpipe {
FileDetails describe_bmp(Bytes file) {
  const BmpHeader header = read_bmp_header(file, true);
  FileDetails details{.compression = "none", .decoder = "imgpipe"};
  details.color = header.indexed() ? "palette" : "RGB";
  details.channels = header.indexed() ? 1 : header.channels();
  if (header.packing != BmpPacking::none)
    details.compression = header.packing == BmpPacking::rle8 ? "RLE8" : "RLE4";
  details.layout =
      bits_per_pixel_text(header.bits) + (header.top_down ? ", top row first" : ", bottom row first");
  details.variant = (header.header_bytes == 12 ? "OS/2, header of " : "header of ") +
                    std::to_string(header.header_bytes) + " bytes";
  return details;
}

// Loads the largest header with masks and 256 colours, and a profile.
void load_bmp_header(PartialFile& front) {
  front.load(0, std::size_t{64} << 10);
  try {
    const BmpHeader header = read_bmp_header(front.bytes(), true);
    front.load(header.profile_at, std::min<std::uint64_t>(header.profile_bytes, kMaxProfileBytes));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;  // the reader reports it
  }
}

}  // namespace imgpipe

// Describes how a TGA is stored, from its header (Truevision TGA 2.0, 1991).
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/sniff.h"
#include "images/files/partial_file.h"

namespace imgpipe {

FileDetails describe_tga(Bytes file) {
  const std::uint32_t type = little_endian(file, 2, 1), bits = little_endian(file, 16, 1),
                      descriptor = little_endian(file, 17, 1);
  FileDetails details{.compression = type >= 8 ? "RLE" : "none", .decoder = "imgpipe"};
  details.color = type % 8 == 1 ? "palette" : type % 8 == 3 ? "grey" : "RGB";
  details.channels = type % 8 == 1 ? 1 : type % 8 == 3 ? static_cast<int>(bits / 8) : bits == 32 ? 4 : 3;
  details.layout = bits_per_pixel_text(static_cast<int>(bits)) +
                   ((descriptor & 0x20) != 0 ? ", top row first" : ", bottom row first");
  return details;
}

// Loads the header, name and colour table, the footer, and the extension area.
void load_tga_header(PartialFile& front) {
  constexpr std::size_t kBeforePixels = 18 + 255 + std::size_t{4} * 65'535, kFooter = 26, kExtension = 495;
  const Bytes file = front.bytes();
  front.load(0, kBeforePixels);
  if (file.size() < kFooter) return;
  front.load(file.size() - kFooter, kFooter);
  front.load(little_endian(file.last(kFooter), 0, 4), kExtension);
}

}  // namespace imgpipe

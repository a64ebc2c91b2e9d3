// How a BMP is stored, by its header.
#include <string>

#include "images/codecs/bmp/bmp_header.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/sniff.h"
#include "images/files/file_front.h"

namespace imgpipe {
namespace {

// Pixels per metre, in headers that have room for them.
std::optional<Resolution> resolution_of(Bytes file, const BmpHeader& header) {
  constexpr std::size_t kAcross = 38, kDown = 42, kEnd = 46, kFileHeader = 14;
  const std::uint32_t x = little_endian(file, kAcross, 4), y = little_endian(file, kDown, 4);
  if (kFileHeader + header.header_bytes < kEnd || x == 0 || y == 0 || ((x | y) >> 31) != 0)
    return std::nullopt;
  return Resolution{.x = x, .x_of = 100, .y = y, .y_of = 100, .unit = Resolution::Unit::centimetre};
}

}  // namespace

FileDetails describe_bmp(Bytes file) {
  const BmpHeader header = read_bmp_header(file, true);
  FileDetails details{.compression = "none", .decoder = "imgpipe"};
  details.color = header.indexed() ? "palette" : "RGB";
  details.channels = header.indexed() ? 1 : header.channels();
  if (header.packing != BmpPacking::none)
    details.compression = header.packing == BmpPacking::rle8 ? "RLE8" : "RLE4";
  details.layout = bits_a_pixel(header.bits) + (header.top_down ? ", top row first" : ", bottom row first");
  details.resolution = resolution_of(file, header);
  details.variant = (header.header_bytes == 12 ? "OS/2, header of " : "header of ") +
                    std::to_string(header.header_bytes) + " bytes";
  return details;
}

// The largest header with masks and 256 colours.
void load_bmp_header(FileFront& front) {
  front.load(0, std::size_t{64} << 10);
}

}  // namespace imgpipe

// Describes how a Photoshop file is stored, from its header and sections.
#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/psd/psd_header.h"
#include "images/codecs/sniff.h"
#include "images/files/partial_file.h"

namespace imgpipe {
namespace {

std::string color_of(PsdMode mode) {
  switch (mode) {
    case PsdMode::bitmap:
      return "bilevel";
    case PsdMode::grey:
      return "grey";
    case PsdMode::indexed:
      return "palette";
    case PsdMode::cmyk:
      return "CMYK";
    case PsdMode::duotone:
      return "duotone";
    case PsdMode::rgb:
      break;
  }
  return "RGB";
}

}  // namespace

FileDetails describe_psd(Bytes file) {
  const Psd psd = read_psd(file);
  FileDetails details{.compression = psd.packed ? "PackBits" : "none", .decoder = "imgpipe"};
  details.color = color_of(psd.mode);
  details.channels = static_cast<int>(psd.channels);
  details.layout = "channel by channel";
  details.variant = psd.big ? "PSB" : "PSD";
  return details;
}

// Loads the header and the sections. Of the layer section, loads only the number of layers, if the layers
// come first (not in 16-bit files).
void load_psd_sections(PartialFile& front) {
  const Bytes file = front.bytes();
  const bool big = [&] {
    front.load(0, 30);
    return big_endian(file, 4, 2) == 2;
  }();
  const std::size_t field = big ? 8 : 4;
  std::size_t at = 26;
  for (int section = 0; section < 3 && at < file.size(); ++section) {
    const std::size_t length_bytes = section == 2 ? field : 4;
    front.load(at, length_bytes + field + 2);
    const std::uint64_t length = length_bytes == 8 ? big_endian_64(file, at) : big_endian(file, at, 4);
    at += length_bytes;
    if (length > file.size() - std::min(at, file.size())) return;
    const bool number_in_front = section == 2 && big_endian(file, at + field - 4, 4) != 0;
    if (!number_in_front) front.load(at, length);
    at += length;
  }
  // The compression, the length of each packed row, and the first pixels.
  const std::uint64_t rows = std::uint64_t{big_endian(file, 12, 2)} * big_endian(file, 14, 4);
  front.load(at, std::min<std::uint64_t>(file.size(), 2 + rows * field / 2) + (std::size_t{64} << 10));
}

}  // namespace imgpipe

// Describes how the first page of a TIFF is stored, from its directory.
#include <algorithm>
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/tiff/tiff_library.h"
#include "images/codecs/tiff/tiff_page.h"
#include "images/codecs/tiff/tiff_raw_directory.h"
#include "images/error.h"
#include "images/files/partial_file.h"

namespace imgpipe {
namespace {

std::string name_of(TiffCompression compression) {
  switch (compression) {
    case TiffCompression::none:
      return "none";
    case TiffCompression::ccitt_rle:
    case TiffCompression::ccitt_rle_words:
      return "CCITT RLE";
    case TiffCompression::ccitt_t4:
      return "CCITT T.4 (fax 3)";
    case TiffCompression::ccitt_t6:
      return "CCITT T.6 (fax 4)";
    case TiffCompression::lzw:
      return "LZW";
    case TiffCompression::jpeg:
      return "JPEG";
    case TiffCompression::deflate:
    case TiffCompression::old_deflate:
      return "deflate";
    case TiffCompression::packbits:
      return "PackBits";
    case TiffCompression::zstd:
      break;
  }
  return "Zstandard";
}

std::string color_of(const TiffPage& page) {
  switch (page.color) {
    case TiffColor::white_is_zero:
    case TiffColor::black_is_zero:
      return page.bits == 1 ? "bilevel" : "grey";
    case TiffColor::palette:
      return "palette";
    case TiffColor::cmyk:
      return "CMYK";
    case TiffColor::ycbcr:
      return "YCbCr";
    case TiffColor::rgb:
      break;
  }
  return "RGB";
}

std::string name_of(TiffExtra extra) {
  switch (extra) {
    case TiffExtra::unspecified:
      return "unspecified";
    case TiffExtra::premultiplied:
      return "associated alpha";
    case TiffExtra::straight:
      return "unassociated alpha";
    case TiffExtra::not_stated:
      break;
  }
  return "not stated";
}

std::string layout_of(const TiffPage& page) {
  const std::int64_t chunks = page.across * page.down * page.planes();
  const std::string what = page.tiled ? " tile" : " strip";
  std::string text = std::to_string(chunks) + what + (chunks == 1 ? "" : "s") + " of ";
  if (page.tiled) text += std::to_string(page.cell_width) + "x" + std::to_string(page.cell_height);
  const std::int64_t rows = std::min(page.cell_height, page.height);
  if (!page.tiled) text += std::to_string(rows) + (rows == 1 ? " row" : " rows");
  if (page.separate) text += ", channel by channel";
  if (page.color == TiffColor::palette) text += ", " + bits_per_pixel_text(page.bits);
  return text + (page.color == TiffColor::white_is_zero ? ", white is zero" : "");
}

// Assumes 2x2 if the field is missing or unreadable; libtiff then uses the JPEG data.
std::string subsampling_of(Bytes file, std::uint64_t offset, const TiffPage& page) {
  if (page.color != TiffColor::ycbcr) return "";
  const auto field = TiffDirectory(file, offset).find_raw(TiffTag::ycbcr_subsampling);
  const bool is_said = field && field->type == static_cast<std::uint16_t>(TiffType::u16) && field->count == 2;
  const TiffValues values(is_said ? field->bytes : Bytes(), sizeof(std::uint16_t), page.big_endian);
  const std::uint64_t across = is_said ? values[0] : 2, down = is_said ? values[1] : 2;
  const bool fits = across <= 4 && down <= 4;  // the maximum in TIFF 6.0
  const std::string name =
      fits ? chroma_sampling(static_cast<std::int64_t>(across), static_cast<std::int64_t>(down)) : "";
  return name.empty() ? std::to_string(across) + "x" + std::to_string(down) : name;
}

}  // namespace

FileDetails describe_tiff(Bytes file) {
  FileDetails details;
  const std::uint64_t offset = tiff_directory_offset(file, 0).value_or(0);
  const TiffPage page = read_tiff_page(file, offset, {.accept = Acceptance::lenient});
  details.color = color_of(page);
  details.channels = page.samples;
  for (int i = 0; i < page.samples - page.colors(); ++i)
    details.extra_channels.push_back(name_of(page.extra(i)));
  details.bands_needed = page.bands_needed;
  details.compression = name_of(page.compression);
  if (page.predicted)
    details.compression += page.float_predicted ? ", floating-point predictor" : ", horizontal differencing";
  details.subsampling = subsampling_of(file, offset, page);
  details.layout = layout_of(page);
  const bool big = tiff_number(file.subspan(2, 2), page.big_endian) == 43;
  details.variant =
      std::string(big ? "BigTIFF" : "TIFF") + (page.big_endian ? ", big-endian" : ", little-endian");
  details.decoder = is_for_libtiff(page.compression) ? "libtiff" : "imgpipe";
  return details;
}

// Loads the header, the first directory and its values.
void load_tiff_directory(PartialFile& front) {
  constexpr std::size_t kMaxHeader = 16;
  front.load(0, kMaxHeader);
  const Bytes file = front.bytes();
  if (file.size() < kMaxHeader) return;
  TiffLayout layout{.big_endian = is_big_endian_tiff(file)};
  layout.big = layout.number(file.subspan(2, 2)) == 43;
  const std::uint64_t offset = layout.number(file.subspan(layout.offset_bytes(), layout.offset_bytes()));
  const TiffDirectoryEntries directory = read_tiff_directory(front.file(), layout, offset);
  front.load(offset, layout.directory_bytes(directory.fields.size()));
  for (const TiffFieldEntry& field : directory.fields)
    if (!field.is_inside(layout)) front.load(field.offset(layout), field.bytes);
}

}  // namespace imgpipe

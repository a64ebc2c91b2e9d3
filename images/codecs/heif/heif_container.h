// The container of AVIF and HEIC: boxes (ISO/IEC 14496-12) and items (ISO/IEC 23008-12, HEIF), read before
// libavif or libheif sees any of them.
#pragma once

#include <cstdint>
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/heif/heif_items.h"

namespace imgpipe {

// How an AV1 or HEVC image is stored, from its configuration property (av1C, hvcC).
struct HeifCoding {
  int bits = 0;  // per sample; 0: unknown
  bool is_grey = false;
  int chroma_across = 1, chroma_down = 1;  // luma samples per chroma sample

  [[nodiscard]] bool known() const { return bits > 0; }
};

// The part of the stored image that is displayed (clap, ISO/IEC 14496-12, section 12.1.4).
struct HeifCrop {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
};

struct HeifSides {
  std::int64_t width = 0, height = 0;

  // The sides are unchecked numbers of 32 bits, whose product needs an unsigned type.
  [[nodiscard]] std::uint64_t pixels() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
};

// The primary image of a file.
struct HeifContents {
  std::string brand;                   // of the file type box: "avif", "heic", "mif1"
  std::string item_type;               // "av01", "hvc1", "grid"
  std::int64_t width = 0, height = 0;  // as stored, before cropping and rotating
  HeifCrop crop;                       // within the stored image; all of it by default
  Orientation orientation = Orientation::upright;
  HeifCoding coding;                // of a grid: of its first tile
  bool is_rgb = false;              // the colours are stored as RGB, not as YCbCr
  bool has_alpha = false;           // an auxiliary image is its alpha
  HeifSides largest;                // of any image in the file, tiles and thumbnails included
  std::int64_t images = 1;          // a sequence's frames, or further images that are not parts of others
  Bytes profile;                    // ICC; empty: none
  std::string color_space;          // without a profile: the code points (ITU-T H.273) unless they mean sRGB
  Bytes exif, xmp;                  // EXIF: from the TIFF header on; empty: none
  std::vector<std::string> unread;  // metadata in the file that is not read: "EXIF (in several parts)"
  bool is_truncated = false;        // the last box exceeds the file
};

// Whether a file begins with a file type box that lists `brand`.
[[nodiscard]] bool has_heif_brand(Bytes beginning, std::string_view brand);

// Walks the boxes without reading past the file. The sides may be 0. Throws Error(input) "NAME: REASON" if
// the file has no primary image with a size and a type.
[[nodiscard]] HeifContents read_heif_contents(Bytes file, const std::string& name);

// Reads the items alone, for which a file without a meta box has none.
[[nodiscard]] HeifItems read_heif_items(Bytes file);

// The sides of the primary image, if its properties are in `beginning`.
[[nodiscard]] FileClaim heif_claim(Bytes beginning);

}  // namespace imgpipe

// EXIF taken apart and written anew (Exif 2.32; TIFF 6.0, section 2). Directories that are read: the first
// one, and of it those of Exif, GPS and interoperability. Of the next directory, which describes a thumbnail,
// only its presence is reported.
//
// A block is refused where a directory or a value lies outside of it, a directory begins twice or two of them
// overlap, a directory has no entries or more than kMostExifEntries. Two values may be the very same bytes.
// Entries of unknown types or without values are left out, and so are: the maker's note (its offsets count
// from places that only the maker knows, and it holds previews), and fields that describe how pixels or
// thumbnails are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

inline constexpr std::size_t kMostExifEntries = 1000;

struct ExifEntry {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;  // 1 to 12
  std::uint32_t count = 0;
  std::span<const std::byte> value;       // of the block, in its byte order
  std::optional<std::uint32_t> number{};  // in place of `value`
};

struct ExifBlock {
  bool big_endian = false;
  std::vector<ExifEntry> image, exif, interoperability, gps;  // each ascending by tag, no tag twice
  bool had_maker_note = false, had_thumbnail = false;
  bool had_iptc = false, had_xmp = false, had_profile = false;  // in fields of the first directory

  [[nodiscard]] bool empty() const;
};

// `of_tiff_file`: the block is a whole TIFF file; of its first directory only what a camera or a person says
// of the picture is taken. Throws Error(input) as said above; its text is short: "damaged: ...".
[[nodiscard]] ExifBlock parse_exif(std::span<const std::byte> block, bool of_tiff_file = false);

// Whether the first directory has an orientation, of whatever value; false for a block that is damaged.
[[nodiscard]] bool states_orientation(std::span<const std::byte> block);

// Orientation becomes 1 where `reset_orientation`, else it is left out where it is none of the eight; fields
// that say the picture's size say this one.
void adapt_exif(ExifBlock& block, bool reset_orientation, std::int64_t width, std::int64_t height);

// Replaces the fields of the resolution where the block has one of them; without a resolution, removes them.
// `storage` gets the values and must outlive the block.
void set_exif_resolution(ExifBlock& block, const std::optional<Resolution>& resolution,
                         std::vector<std::byte>& storage);

// The whole block, in its own byte order. Throws Error(input) where it is longer than `most_bytes`.
[[nodiscard]] std::vector<std::byte> build_exif(const ExifBlock& block, std::size_t most_bytes);

// What is said of the picture in the first directory, as fields of a TIFF: maker, model, dates and their
// like, the orientation too.
[[nodiscard]] std::vector<TiffMetadataField> exif_image_fields(const ExifBlock& block);

// The directories of Exif, interoperability and GPS alone, in this machine's byte order, to stand in a file
// at `place`; each offset is from the file's start. Zero: there is none.
struct ExifDirectories {
  std::vector<std::byte> bytes;
  std::uint32_t exif = 0, gps = 0;
};
[[nodiscard]] ExifDirectories build_exif_directories(const ExifBlock& block, std::uint32_t place);

}  // namespace imgpipe

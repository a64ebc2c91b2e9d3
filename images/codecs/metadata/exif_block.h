// Parses and rebuilds EXIF (Exif 2.32; TIFF 6.0, section 2): the first directory and its Exif, GPS and
// interoperability directories. Reports only the presence of a next directory, which describes a thumbnail.
//
// parse_exif() rejects a block with a directory or value out of bounds, with overlapping parts (two values
// may be the same bytes), or with a directory of no entries or of more than kMaxExifEntries. It drops entries
// of unknown types or without values, fields that describe how pixels or thumbnails are stored, and the maker
// note, whose offsets have unknown bases and which contains previews.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

inline constexpr std::size_t kMaxExifEntries = 1000;

struct ExifEntry {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;  // 1 to 12
  std::uint32_t count = 0;
  std::span<const std::byte> value;       // in the block, in its byte order
  std::optional<std::uint32_t> number{};  // replaces `value`
};

struct ExifBlock {
  bool big_endian = false;
  std::vector<ExifEntry> image, exif, interoperability, gps;  // each ascending by tag, without duplicates
  bool has_maker_note = false, had_thumbnail = false;
  bool had_iptc = false, had_xmp = false, had_profile = false;  // in fields of the first directory

  [[nodiscard]] bool empty() const;
};

// `of_tiff_file`: the block is a whole TIFF file; from its first directory, reads only the fields that a
// camera or person sets. Throws Error(input) "damaged: ...".
[[nodiscard]] ExifBlock parse_exif(std::span<const std::byte> block, bool of_tiff_file = false);

// Whether the first directory has an orientation with any value; false for a damaged block.
[[nodiscard]] bool states_orientation(std::span<const std::byte> block);

// Replaces an orientation by `orientation` if set, else removes an invalid one; updates the image size.
void adapt_exif(ExifBlock& block, std::optional<Orientation> orientation, std::int64_t width,
                std::int64_t height);

// Replaces the resolution fields if the block has any, or removes them if `resolution` is empty. `storage`
// receives the values and must outlive the block.
void set_exif_resolution(ExifBlock& block, const std::optional<Resolution>& resolution,
                         std::vector<std::byte>& storage);

// Returns the block in its own byte order. Throws Error(input) if it is longer than `max_bytes`.
[[nodiscard]] std::vector<std::byte> build_exif(const ExifBlock& block, std::size_t max_bytes);

// Returns the first directory's fields about the image (maker, dates, orientation ...) as TIFF fields.
[[nodiscard]] std::vector<TiffMetadataField> exif_image_fields(const ExifBlock& block);

// The Exif, interoperability and GPS directories in the host's byte order, for offset `position` in a file.
// Offsets are from the file's start; 0: none.
struct ExifDirectories {
  std::vector<std::byte> bytes;
  std::uint32_t exif = 0, gps = 0;
};
[[nodiscard]] ExifDirectories build_exif_directories(const ExifBlock& block, std::uint32_t position);

}  // namespace imgpipe

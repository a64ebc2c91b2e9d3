// Reads the directories of a TIFF file in memory (TIFF 6.0, section 2; BigTIFF: the design of libtiff 4, "The
// BigTIFF file format"), in both byte orders. Copies nothing, and never reads beyond the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "images/codecs/codec_parts.h"

namespace imgpipe {

// Throws Error(input) "TIFF: REASON".
[[noreturn]] void fail_tiff(const std::string& reason);

// Tags of the fields that are read or written.
enum class TiffTag : std::uint16_t {
  subfile = 254,
  width = 256,
  height = 257,
  bits = 258,
  compression = 259,
  photometric = 262,
  fill_order = 266,
  description = 270,
  strip_offsets = 273,
  orientation = 274,
  samples = 277,
  rows_per_strip = 278,
  strip_counts = 279,
  x_resolution = 282,
  y_resolution = 283,
  planar = 284,
  t4_options = 292,
  t6_options = 293,
  resolution_unit = 296,
  software = 305,
  predictor = 317,
  color_map = 320,
  tile_width = 322,
  tile_height = 323,
  tile_offsets = 324,
  tile_counts = 325,
  sub_directories = 330,
  ink_set = 332,
  extra_samples = 338,
  sample_format = 339,
  jpeg_tables = 347,
  ycbcr_subsampling = 530,
  xmp = 700,
  pixel_scale = 33550,  // GeoTIFF
  tie_points = 33922,
  transformation = 34264,
  iptc = 33723,
  photoshop = 34377,
  exif = 34665,
  profile = 34675,
  geo_keys = 34735,
  geo_numbers = 34736,
  geo_texts = 34737,
  gps = 34853,
  dng_version = 50706,
};

// Value types of these fields.
enum class TiffType : std::uint16_t {
  byte = 1,
  ascii = 2,
  u16 = 3,
  u32 = 4,
  rational = 5,
  undefined = 7,
  u64 = 16
};

// The values of one field, referring to the file.
class TiffValues {
 public:
  TiffValues() = default;
  TiffValues(Bytes bytes, std::size_t value_bytes, bool big_endian)
      : bytes_(bytes), value_bytes_(value_bytes), big_endian_(big_endian) {}

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / value_bytes_; }
  [[nodiscard]] std::uint64_t operator[](std::size_t i) const noexcept;
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  [[nodiscard]] TiffValues part(std::size_t first, std::size_t count) const {
    return {bytes_.subspan(first * value_bytes_, count * value_bytes_), value_bytes_, big_endian_};
  }

 private:
  Bytes bytes_;
  std::size_t value_bytes_ = 1;
  bool big_endian_ = false;
};

// A field of any type, unchecked.
struct TiffRawField {
  std::uint16_t type = 0;
  std::uint64_t count = 0;
  Bytes bytes;
};

// Maximum number of fields in a directory. A few hundred tags are registered, and real files have fewer than
// a hundred fields.
inline constexpr std::uint64_t kMaxTiffFields = 4096;
inline constexpr std::int64_t kMaxTiffPages = 1 << 20;
inline constexpr std::uint64_t kMaxTiffSamples = 64;  // per pixel

// Returns the number stored in `bytes`.
[[nodiscard]] std::uint64_t tiff_number(Bytes bytes, bool big_endian);

// One directory. The constructor throws Error(input) if it is out of bounds.
class TiffDirectory {
 public:
  // The directory at `offset`; `file` begins with a TIFF header.
  TiffDirectory(Bytes file, std::uint64_t offset);

  // Returns a field's values (byte, u16, u32, u64, or ascii and undefined for texts and raw bytes); nullopt
  // if the field is missing. Throws Error(input) for other types, values outside the file, fields without
  // values and, unless `lenient`, duplicate fields.
  [[nodiscard]] std::optional<TiffValues> find(TiffTag tag, bool lenient = false) const;
  // Returns the first field with this tag; nullopt if missing, out of bounds, or of a type not in TIFF 6.0.
  [[nodiscard]] std::optional<TiffRawField> find_raw(TiffTag tag) const;
  // Returns the tags of all fields in file order.
  [[nodiscard]] std::vector<std::uint16_t> tags() const;
  // Returns the offset of the next directory; 0 if none. Throws Error(input) if it is truncated.
  [[nodiscard]] std::uint64_t next() const;

 private:
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::size_t bytes) const;

  Bytes file_;
  bool big_endian_ = false;
  bool big_ = false;                     // BigTIFF
  std::uint64_t first_ = 0, count_ = 0;  // the fields
};

[[nodiscard]] bool is_tiff(Bytes beginning);
// Whether numbers are big-endian.
[[nodiscard]] bool is_big_endian_tiff(Bytes beginning);

// Returns the offset of a page's directory, 0 being the first page; nullopt after the last. Throws
// Error(input) if the chain leaves the file or forms a loop.
[[nodiscard]] std::optional<std::uint64_t> tiff_directory_offset(Bytes file, std::int64_t page);

}  // namespace imgpipe

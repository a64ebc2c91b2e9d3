// The metadata of a file, and the part preserved in the output: ICC profile, EXIF, XMP, IPTC, texts and
// comments, resolution; for TIFF also the description and GeoTIFF fields.
//
// Everything is checked: ICC profiles by size and tag table, EXIF by parsing and rebuilding (exif_block.h),
// XMP for UTF-8 and nesting, IPTC by dataset (iptc.h), texts for NULs. Metadata that is damaged or exceeds
// the limits below is dropped and reported; metadata never causes an image to be rejected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

// A JPEG segment holds 65,533 bytes, including the identifier before the block or packet.
inline constexpr std::size_t kMaxExifBytes = 65'533 - 6;
inline constexpr std::size_t kMaxJpegXmpBytes = 65'533 - 29;
inline constexpr std::size_t kMaxJpegCommentBytes = 65'533;
inline constexpr std::size_t kMaxXmpBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxIptcBytes = std::size_t{1} << 20;
// For all texts and comments of a file together.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxTexts = 256;
// The limit for ICC profiles is kMaxProfileBytes (images/codecs/icc.h).
// Limit per TIFF field, for texts (OME-XML and ImageJ's slice lists are long) and GeoTIFF numbers.
inline constexpr std::size_t kMaxTiffFieldBytes = std::size_t{1} << 20;

// Throws Error(input) "damaged: REASON".
[[noreturn]] void fail_damaged(const std::string& reason);

// Pixels per unit of length, as fractions; no number is 0.
struct Resolution {
  enum class Unit { none, inch, centimetre };  // none: only the aspect ratio is known
  std::uint32_t x = 1, x_of = 1, y = 1, y_of = 1;
  Unit unit = Unit::none;

  // Whether the resolution carries no information: square pixels of unknown size.
  [[nodiscard]] bool empty() const;
  // Pixels per inch or metre, rounded; nullopt without a unit, or if a value is 0 or exceeds `most`.
  struct Whole {
    std::uint32_t x = 0, y = 0;
  };
  [[nodiscard]] std::optional<Whole> per_inch(std::uint32_t most) const;
  [[nodiscard]] std::optional<Whole> per_metre(std::uint32_t most) const;
};

// A TIFF field that is preserved unchanged; numbers in the host's byte order.
struct TiffMetadataField {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;  // TIFF 6.0: 2 text, 3 u16, 12 double
  std::uint64_t count = 0;
  std::vector<std::byte> data;
};

// A PNG text with its keyword, or a comment. All strings are UTF-8 without NUL.
struct MetadataText {
  static constexpr std::string_view kComment = "Comment";

  std::string keyword{kComment};
  std::string text{};
  bool latin1 = false;                           // comments: stored as Latin-1
  bool international = false;                    // PNG: an iTXt chunk, else tEXt or zTXt
  std::string language{}, translated_keyword{};  // iTXt only

  [[nodiscard]] bool is_comment() const { return keyword == kComment; }
};

struct Metadata {
  std::vector<std::byte> icc, exif, xmp;  // EXIF: a TIFF structure starting with its header
  std::vector<std::byte> iptc;            // IIM datasets
  std::vector<MetadataText> texts;        // in file order
  std::optional<Resolution> resolution;
  std::vector<TiffMetadataField> fields;  // ascending by tag

  [[nodiscard]] std::int64_t bytes() const;
};

// The metadata in a file, unchecked. The spans point into the file.
struct FoundMetadata {
  std::vector<std::byte> icc, xmp, iptc;
  std::vector<MetadataText> texts;  // at most kMaxTexts, kMaxTextBytes in total
  std::span<const std::byte> exif;
  std::shared_ptr<const std::vector<std::byte>> exif_storage;  // of an EXIF block that the file compresses
  bool exif_in_file =
      false;  // `exif` is a whole TIFF file, whose first directory also has the camera's fields
  std::optional<Resolution> resolution;
  std::optional<Orientation> orientation;  // set if the format states it and EXIF's is ignored
  std::vector<TiffMetadataField> fields;
  // Metadata in the file that is not read: "EXIF (damaged)", "JUMBF".
  std::vector<std::string> lost;

  // Adds a comment in ASCII, UTF-8 or Latin-1, without trailing NULs; ignores empty ones.
  void add_comment(std::span<const std::byte> comment);
  void add_text(MetadataText text);
  // Adds a name to `lost` unless it is already there.
  void lose(std::string name);
};

// Reports IPTC, XMP or a profile as lost if the file has it only inside EXIF.
void report_exif_only_metadata(FoundMetadata& found);

// The kinds of metadata that a format's writer stores.
struct SupportedMetadata {
  bool icc = false, exif = false, xmp = false, iptc = false, resolution = false, fields = false;
  bool comments = false, texts = false;  // texts: with any keyword
};

// How the run changes the image.
struct ImageChanges {
  Format output = Format::png;
  Shape shape;                                 // as written
  Orientation applied = Orientation::upright;  // by the reader
  bool moved = false;                          // by a stage: flip, rotate, crop
  bool scaled = false;                         // by a stage: resize
  bool turned = false;                         // by a stage: flip, rotate
  std::string_view reshaped{};                 // why the shape changes: "image size changed"; or empty
  bool revalued = false;                       // a stage changes sample values: contrast, gray, median
  bool to_srgb = false;                        // a stage converts the colours to sRGB: icc
  bool whole_stack = true;                     // all pages of the file are written, in order, to one file
  std::string_view file_name{};                // of the input, without directories; empty: unknown
};

// One per codec, for keep_metadata(). They throw only Error(memory).
[[nodiscard]] FoundMetadata find_jpeg_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_png_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_webp_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_tiff_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_gif_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_psd_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_bmp_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_tga_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_netpbm_metadata(std::span<const std::byte> file);

// Return the bytes that the writers store: complete JPEG segments, to follow the header; complete PNG chunks,
// to precede the pixels.
[[nodiscard]] std::vector<std::byte> jpeg_metadata_segments(const Metadata& metadata);
[[nodiscard]] std::vector<std::byte> png_metadata_chunks(const Metadata& metadata);
// The density in a JFIF header; unit 0: ratio, 1: dots per inch. nullopt: not representable.
struct JfifDensity {
  int unit = 0;
  std::uint16_t x = 1, y = 1;
};
[[nodiscard]] std::optional<JfifDensity> jfif_density(const Metadata& metadata);
// Insert metadata into a complete file from stb_image_write.
void add_jpeg_metadata(std::vector<std::byte>& file, const Metadata& metadata);
void add_png_metadata(std::vector<std::byte>& file, const Metadata& metadata);
void add_bmp_metadata(std::vector<std::byte>& file, const Metadata& metadata);

}  // namespace imgpipe

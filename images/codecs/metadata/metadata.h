// The metadata of a file, and the part of it that is preserved in the file made from it: ICC profile, EXIF,
// XMP, IPTC, texts and comments, resolution; of TIFF also its description and GeoTIFF fields.
//
// Nothing is copied unchecked: an ICC profile has its size and its table of tags inside, EXIF is taken apart
// and written anew (exif_block.h), XMP is UTF-8 and nests as XML has to, IPTC is a sequence of datasets
// (iptc.h), texts are characters without NUL. Metadata that is damaged, or larger than the limits below, is
// dropped and named; metadata never makes an image fail.
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

// A JPEG's segments hold 65,533 bytes; an identifier stands before the block or the packet.
inline constexpr std::size_t kMostExifBytes = 65'533 - 6;
inline constexpr std::size_t kMostJpegXmpBytes = 65'533 - 29;
inline constexpr std::size_t kMostJpegCommentBytes = 65'533;
inline constexpr std::size_t kMostXmpBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostIptcBytes = std::size_t{1} << 20;
// Of all texts and comments of a file together.
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMostTexts = 256;
// ICC profiles: kMostProfileBytes (images/codecs/icc.h).
// Of a TIFF: texts (OME-XML and ImageJ's lists of slices are long) and numbers of GeoTIFF, each.
inline constexpr std::size_t kMostTiffFieldBytes = std::size_t{1} << 20;

// Throws Error(input): "damaged: " and the reason.
[[noreturn]] void fail_damaged(const std::string& reason);

// Pixels to a unit of length, as fractions; no number is 0.
struct Resolution {
  enum class Unit { none, inch, centimetre };  // none: only the ratio of the two counts
  std::uint32_t x = 1, x_of = 1, y = 1, y_of = 1;
  Unit unit = Unit::none;

  // Says nothing: square pixels of no known size.
  [[nodiscard]] bool empty() const;
  // Pixels per inch or per metre, rounded; nullopt where that does not fit `most`, or there is no unit.
  struct Whole {
    std::uint32_t x = 0, y = 0;
  };
  [[nodiscard]] std::optional<Whole> per_inch(std::uint32_t most) const;
  [[nodiscard]] std::optional<Whole> per_metre(std::uint32_t most) const;
};

// A field of a TIFF that is carried as it is: its numbers in this machine's byte order.
struct TiffMetadataField {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;  // TIFF 6.0: 2 texts, 3 numbers of 16 bits, 12 of 64 with a fraction
  std::uint64_t count = 0;
  std::vector<std::byte> data;
};

// A text of a PNG by its keyword, or a comment. All strings are UTF-8 without NUL.
struct MetadataText {
  static constexpr std::string_view kComment = "Comment";

  std::string keyword{kComment};
  std::string text{};
  bool latin1 = false;                           // of a comment: its bytes are Latin-1
  bool international = false;                    // of a PNG: an iTXt chunk, else tEXt or zTXt
  std::string language{}, translated_keyword{};  // of an iTXt chunk

  [[nodiscard]] bool is_comment() const { return keyword == kComment; }
};

struct Metadata {
  std::vector<std::byte> icc, exif, xmp;  // EXIF: a TIFF structure from its header on
  std::vector<std::byte> iptc;            // IIM datasets
  std::vector<MetadataText> texts;        // in the order of the file
  std::optional<Resolution> resolution;
  std::vector<TiffMetadataField> fields;  // ascending by tag

  [[nodiscard]] std::int64_t bytes() const;
};

// What a codec's file holds, not checked yet. The spans are of the file.
struct FoundMetadata {
  std::vector<std::byte> icc, xmp, iptc;
  std::vector<MetadataText> texts;  // at most kMostTexts, of kMostTextBytes together
  std::span<const std::byte> exif;
  bool exif_in_file = false;  // `exif` is the whole file, a TIFF: the camera's fields are among the image's
  std::optional<Resolution> resolution;
  std::vector<TiffMetadataField> fields;
  // "EXIF (damaged)", "JUMBF": metadata that is in the file and is not read.
  std::vector<std::string> lost;

  // Adds a comment in ASCII, UTF-8 or Latin-1; trailing NULs, and a comment of nothing else, are ignored.
  void add_comment(std::span<const std::byte> comment);
  void add_text(MetadataText text);
  // Adds a name to `lost` once.
  void lose(std::string name);
};

// Names as lost the IPTC, XMP or profile in EXIF of a file that has none where it belongs.
void name_copies_in_exif(FoundMetadata& found);

// Which of them a format's writer puts into its files.
struct HeldMetadata {
  bool icc = false, exif = false, xmp = false, iptc = false, resolution = false, fields = false;
  bool comments = false, texts = false;  // texts: of any keyword
};

// What became of the image on its way.
struct MetadataUse {
  Format output = Format::png;
  Shape shape;                                 // as it is written
  Orientation applied = Orientation::upright;  // by the reader
  bool moved = false;                          // some step moves pixels: flip, rotate, crop
  bool scaled = false;                         // some step makes other pixels of them: resize
  bool turned = false;                         // some step flips or rotates
  std::string_view reshaped{};                 // why its shape is another one: "image size changed"; or empty
  bool revalued = false;                       // some step changes samples' values: contrast, gray, median
  bool whole_stack = true;                     // every page of the file goes along, in order, in one file
  std::string_view file_name{};                // of the input, without directories; empty: not known
};

// By codec, for keep_metadata(). None throws but for Error(memory).
[[nodiscard]] FoundMetadata find_jpeg_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_png_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_webp_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_tiff_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_gif_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_psd_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_bmp_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_tga_metadata(std::span<const std::byte> file);
[[nodiscard]] FoundMetadata find_netpbm_metadata(std::span<const std::byte> file);

// What they write of it: whole segments behind the header; whole chunks before the pixels.
[[nodiscard]] std::vector<std::byte> jpeg_metadata_segments(const Metadata& metadata);
[[nodiscard]] std::vector<std::byte> png_metadata_chunks(const Metadata& metadata);
// What stands in a JFIF header: 0 ratio, 1 dots per inch. nullopt: it cannot be said there.
struct JfifDensity {
  int unit = 0;
  std::uint16_t x = 1, y = 1;
};
[[nodiscard]] std::optional<JfifDensity> jfif_density(const Metadata& metadata);
// Puts them into a whole file of stb_image_write.
void add_jpeg_metadata(std::vector<std::byte>& file, const Metadata& metadata);
void add_png_metadata(std::vector<std::byte>& file, const Metadata& metadata);
void add_bmp_metadata(std::vector<std::byte>& file, const Metadata& metadata);

}  // namespace imgpipe

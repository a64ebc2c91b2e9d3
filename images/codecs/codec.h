// Converts image files in memory to rows of pixels and back.
//
// Codecs work by rows, so that decoding, upload, stages and encoding can overlap without a complete image in
// memory. Libraries that decode only whole images are wrapped in the same two interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/exif.h"
#include "images/luma.h"
#include "images/plane.h"
#include "images/tensor.h"

namespace imgpipe {

enum class Format {
  jpeg,
  png,
  bmp,
  gif,
  tga,
  psd,
  webp,
  avif,
  heic,
  jxl,
  tiff,
  pbm,
  pgm,
  ppm,
  pnm,
  pfm,
  npy,
  safetensors
};

// Properties of a format for users; derived from the codec table (images/formats/codec_table.h).
struct FormatInfo {
  Format format = Format::png;
  std::string_view name;                      // the value of --format
  std::span<const std::string_view> endings;  // file name extensions, lower case, without the dot
  bool readable = false;
  bool writable = false;       // images
  bool holds_tensors = false;  // its writer takes tensors
  bool holds_alpha = false;
  bool holds_color = false;
  int written_bits = 8;  // the maximum bits of the integer samples that its writer accepts; 0: none
  bool holds_floats = false;

  [[nodiscard]] bool can_be_written() const { return writable || holds_tensors; }
};

[[nodiscard]] std::span<const FormatInfo> format_table();
[[nodiscard]] const FormatInfo& format_info(Format format);
// Find a format by its --format name or by a file name's extension, ignoring case; nullopt if unknown.
[[nodiscard]] std::optional<Format> format_by_name(std::string_view name);
[[nodiscard]] std::optional<Format> format_by_ending(std::string_view file_name);
// Detects the format from content alone: by signature, or for TGA (which has none) by a header valid in every
// field.
[[nodiscard]] std::optional<Format> format_by_content(std::span<const std::byte> bytes);

// The decoder and encoder. `automatic`:
// - JPEG: libjpeg-turbo; our own decoder if its output is identical (jpeg/baseline_reader.h).
// - PNG: libpng to read; our own writer on our own coder, ISA-L and zlib.
// - Netpbm, BMP, TGA, GIF, PSD: our own readers. stb_image 2.27 swaps the bytes of 16-bit Netpbm samples,
//   ignores maxval, and decodes some of the other files wrongly.
// - BMP, TGA: our own writers, with the bytes of stb_image_write in a third of its memory.
// - TIFF: our own directories and chunks on ISA-L, zlib and libzstd; libtiff for LZW, JPEG and CCITT.
// - WebP: libwebp.
// - AVIF, HEIC, JPEG XL: libavif, libheif, libjxl, each if the build has it.
//
// `stb`: stb_image and stb_image_write for every format they support. `turbo`: libjpeg-turbo for every JPEG.
enum class CodecChoice { automatic, stb, turbo };

inline constexpr std::int64_t kDefaultMaxPixels = 268'435'456;

// Which damaged files are accepted.
enum class Acceptance {
  strict,   // none: a decoder's warning is an error
  lenient,  // keeps the readable part, fills the rest with mid-grey, and warns
  pillow,   // JPEG and PNG that Pillow 13.0 accepts, with its pixels; other formats as strict
};

// The conversion of integers that images do not have: signed ones, and those of 32 bits (docs/pixels.md).
enum class IntegerRule {
  value,  // the nearest float
  unit,   // a float: the value divided by the greatest of its type
  range,  // an unsigned integer of 8 or 16 bits: black is the least value of the type, white the greatest
};

// DecodeOptions::scale: the greatest that least_size() allows.
inline constexpr int kAutoScale = 0;

struct DecodeOptions {
  std::int64_t max_pixels = kDefaultMaxPixels;
  Acceptance accept = Acceptance::strict;
  bool orient = true;  // apply the EXIF orientation
  // The maximum bits per sample of decoded rows. 8: all samples become u8. 16: samples of more than 8 bits
  // become u16 in PNG, PGM, PPM, PSD, TIFF, NPY, AVIF, HEIC and JPEG XL, never by stb_image. 32: the same,
  // and floats become f32; with 8 or 16 they are rejected.
  int max_bits = 8;
  // Shrink-on-load: a JPEG is decoded to 1/scale of its size, rounded up; 1, 2, 4 or 8. Other formats accept
  // 1 and kAutoScale. CodecChoice::stb accepts only 1.
  int scale = 1;
  // For kAutoScale: returns the size below which no side of the upright image may be decoded, given its
  // stored size. Not set, or nullopt: the scale is 1.
  std::function<std::optional<Shape>(const Shape& stored)> least_size{};
  std::optional<IntegerRule> integers{};  // nullopt: such images are rejected
  CodecChoice codec = CodecChoice::automatic;
  // The samples of a TIFF pixel to decode, from 1: one for grey or three for RGB. Empty: the colours and
  // alpha that the file declares; images with more samples are rejected, or lose them with `colors_only`.
  std::vector<int> bands{};
  bool colors_only = false;
  // If set, the pages of a TIFF are the bands of this page, counted from 0 (images/codecs/pages.h). The
  // reader of such a page gets its band in `bands`; other bands that are stored separately may be missing
  // from its file.
  std::optional<std::int64_t> bands_of_page{};
  bool with_profile = false;  // set ImageHeader::icc
  // With with_profile: decode CMYK without alpha that has a CMYK profile to its four inks. Not by stb.
  bool inks = false;
  std::pmr::memory_resource* memory = std::pmr::new_delete_resource();  // for images held inside a reader

  [[nodiscard]] bool lenient() const noexcept { return accept == Acceptance::lenient; }
  [[nodiscard]] bool selects_bands() const noexcept { return colors_only || !bands.empty() || bands_of_page; }
};

// The most bytes of metadata and of data that cameras append.
inline constexpr std::int64_t kMaxMetadataBytes = std::int64_t{256} << 20;

// Returns the longest file that an image within these options can need. Uncompressed 16-bit RGBA takes 8
// bytes per pixel, plain Netpbm text up to 18.
[[nodiscard]] constexpr std::int64_t max_file_bytes(const DecodeOptions& options) {
  return options.max_pixels * 18 + kMaxMetadataBytes;
}

// Returns the greatest plausible length of a file, given its beginning (at least 64 bytes): the bytes that
// its pixels can take, if the header is complete, plus kMaxMetadataBytes. Counts GIF frames and PSD layers
// while the file is valid. Throws open_reader()'s errors for unknown formats and oversized images.
[[nodiscard]] std::int64_t longest_file(std::span<const std::byte> beginning, const DecodeOptions& options);

// The samples of a file.
enum class SampleFormat { unsigned_integer, signed_integer, floating_point };

struct ImageHeader {
  Format format = Format::png;
  Shape shape;  // of the decoded rows; sample type: see DecodeOptions::max_bits
  // As stored. Netpbm: the bits of the maximum value. Palettes: bits of the colours, not of the indices.
  int bits_per_sample = 8;
  SampleFormat sample_format = SampleFormat::unsigned_integer;  // as stored
  bool progressive = false;  // JPEG progressive or PNG interlaced: decoding needs the whole file first
  Orientation orientation = Orientation::upright;  // as stored
  bool more_images = false;  // the file holds more than one image, such as frames of an animation
  int scale = 1;             // DecodeOptions::scale, as it was applied
  // The size of the upright image before scaling; 0 if the scale is 1.
  std::int64_t stored_width = 0, stored_height = 0;
  std::string profile;  // name of an embedded ICC profile other than sRGB; empty: none, or sRGB
  // The embedded profile, which may be damaged, if DecodeOptions::with_profile is set and there is one.
  std::shared_ptr<const std::vector<std::byte>> icc{};
  bool inks = false;  // the channels are C, M, Y and K instead of RGB and alpha; 0 is blank
};

// Returns the shape before scaling.
[[nodiscard]] inline Shape unscaled_shape(const ImageHeader& header) {
  Shape shape = header.shape;
  if (header.scale > 1) {
    shape.width = header.stored_width;
    shape.height = header.stored_height;
  }
  return shape;
}

// The warning if more_images is set.
inline constexpr const char* kMoreImagesWarning = "contains more than one image; only the first is processed";

struct JpegScan;  // images/codecs/jpeg/jpeg_scan.h

// Decodes the rows of one image, top to bottom. The input bytes must outlive the reader.
class Reader {
 public:
  virtual ~Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const ImageHeader& header() const noexcept { return header_; }

  // Fills `rows` with the next rows.height rows; width, channels and sample type must match row_shape().
  // The last row also checks the rest of the file (checksums, end marker). Throws Error(input) or
  // Error(memory); the reader is then unusable. The caller must check before the first row that memory
  // suffices for working_bytes() and the image's other needs (check_available()).
  void read_rows(HostView rows);

  // Readers that support parallel decoding also read bands, instead of read_rows():
  //   begin_band()  starts one band after the other, by one thread at a time. A band begins inside the
  //                 previous band or directly after it.
  //   read_band()   reads each started band once, from any thread, concurrently. It may work on other bands
  //                 too, and wait for threads that read earlier bands.
  // The last band ends with the image. After one call has thrown, all calls throw.
  [[nodiscard]] virtual bool has_bands() const noexcept { return false; }
  void begin_band(std::int64_t first, std::int64_t rows);
  void read_band(std::int64_t first, HostView rows);
  // The memory of each band from begin_band() until it and all earlier ones are read; not in working_bytes().
  [[nodiscard]] virtual std::int64_t band_bytes(std::int64_t /*rows*/) const { return 0; }

  // Whether use_grey_rows() is supported. After that call, which must come before the first row, rows have
  // one channel: the luma of header()'s RGB.
  [[nodiscard]] virtual bool has_grey_rows() const noexcept { return false; }
  virtual void use_grey_rows(Luma luma);
  // The shape of the image that the rows form.
  [[nodiscard]] Shape row_shape() const noexcept;

  // Reduces memory use at the cost of time. Call it before the first row. Returns false if not supported.
  virtual bool use_less_memory() { return false; }

  // Returns the name of the decoder that currently decodes the rows, for reports ("parallel"); empty for the
  // format's library. On damaged files the library may take over midway. Thread-safe.
  [[nodiscard]] virtual std::string_view decoder() const noexcept { return {}; }

  // Returns the most bytes held at one time besides the file and the caller's rows, computed from the header.
  // `whole`: one call reads all rows. Zero if nothing grows with the image.
  [[nodiscard]] virtual std::int64_t working_bytes(bool whole) const;
  // Returns the part of working_bytes() that grows with the image and that a library allocates without
  // block_pool().
  [[nodiscard]] virtual std::int64_t library_bytes(bool whole) const;

  // Returns the data with which a device can decode all pixels of a JPEG instead (kernels/jpeg/), or nullptr.
  [[nodiscard]] virtual const JpegScan* jpeg_scan() const noexcept { return nullptr; }
  // Checks the data after the end marker, at `after_end` in the scan's data, once a device has decoded
  // jpeg_scan(). Throws Error(input).
  virtual void check_file_end(std::size_t after_end);

  // Sets the header's profile, before the first row.
  void set_profile(std::vector<std::byte> icc);

  // Tolerated problems in order: damage with --lenient, and unknown bytes after a camera's JPEG.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 protected:
  Reader() = default;
  // `rows` match row_shape().
  virtual void read_next_rows(HostView rows) = 0;
  virtual void finish() {}
  // Implement begin_band() and read_band(). Reading the last row must also check the rest of the file.
  virtual void begin_next_band(std::int64_t first, std::int64_t rows);
  virtual void do_read_band(std::int64_t first, HostView rows);

  ImageHeader header_;
  std::vector<std::string> warnings_;
  std::optional<Luma> luma_;  // set by use_grey_rows()

 private:
  std::int64_t rows_given_ = 0;
  std::int64_t band_first_ = 0;  // of the last begun band
};

// Opens an image: detects the format from its content, reads the header and checks the size against
// max_pixels. Allocates nothing that grows with the image before the first row is read, except with
// CodecChoice::stb, which decodes here, within the available memory.
//
// Samples are 8-bit: values v with maximum m become (v*255 + m/2) / m, palettes and fewer bits are expanded,
// CMYK and YCCK become RGB. With DecodeOptions::max_bits 16 and a codec other
// than stb, samples of more than 8 bits become 16-bit, (v*65535 + m/2) / m, in the host's byte order. Colour
// profiles and gamma are not applied. Throws Error(input) or Error(memory), never with bytes of the file.
[[nodiscard]] std::unique_ptr<Reader> open_reader(std::span<const std::byte> bytes,
                                                  const DecodeOptions& options = {});

// Returns the most bytes that open_reader() holds before it returns, in addition to the file, computed from
// the header; zero except with CodecChoice::stb. Throws Error(input).
[[nodiscard]] std::int64_t opening_bytes(std::span<const std::byte> bytes, const DecodeOptions& options);

// Identifies the source of a result: 64-bit hashes.
struct Provenance {
  std::uint64_t name = 0;     // of the input's name relative to INPUT
  std::uint64_t content = 0;  // content_hash() of the input (images/files/input_file.h); 0: unknown
  std::uint64_t options = 0;  // of the options that affect the output's bytes

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// The mark in files written by imgpipe (images/codecs/mark.h).
struct Mark {
  enum class Kind {
    none,
    result,     // output of a pipeline
    synthetic,  // a test image
  };
  Kind kind = Kind::none;
  std::optional<Provenance> made_of{};  // for results; none: the mark is plain

  static const Mark none, result, synthetic;  // plain
  friend bool operator==(const Mark&, const Mark&) = default;
};
inline constexpr Mark Mark::none{};
inline constexpr Mark Mark::result{Mark::Kind::result};
inline constexpr Mark Mark::synthetic{Mark::Kind::synthetic};

// The compression of a WebP.
enum class WebpCoding { lossless, lossy };
// The compression of TIFF strips or tiles; deflate, lzw and zstd use horizontal differencing.
enum class TiffPacking { none, deflate, packbits, zstd, lzw };

struct Metadata;       // images/codecs/metadata/metadata.h
class PixelDigest;     // images/pixel_digest.h
struct StackPosition;  // images/codecs/pages.h

struct EncodeOptions {
  int quality = 90;   // JPEG and lossy WebP, 1..100
  int png_level = 1;  // 0: stored; 1: png/strip_rule.h; 2 to 9: by libdeflate, 9 the smallest
  TiffPacking tiff_packing = TiffPacking::deflate;  // deflate by png_level
  int tiff_tile = 0;                                // side of the tiles, a multiple of 16; 0: strips
  CodecChoice codec = CodecChoice::automatic;
  Mark mark = Mark::none;  // written into the file
  WebpCoding webp = WebpCoding::lossless;
  int webp_level = 1;                               // 0..9, 9 the smallest
  std::shared_ptr<const Metadata> metadata{};       // nullptr: none
  std::shared_ptr<const StackPosition> in_stack{};  // nullptr: a standalone file
  std::optional<TensorType> tensor{};               // if set, the rows are its frame(); nullopt: an image
  std::shared_ptr<PixelDigest> digest{};            // if set, takes the rows as the file stores them
};

// A file in memory, in consecutive parts, so that separately encoded strips are never copied together.
struct EncodedFile {
  // Bytes that overwrite the file at offset `at`.
  struct Patch {
    std::uint64_t at = 0;
    std::vector<std::byte> bytes;
  };

  std::vector<std::vector<std::byte>> parts;
  std::vector<Patch> patches;  // for the parts returned by Writer::take_finished(), if any

  [[nodiscard]] std::size_t size_bytes() const noexcept;
  [[nodiscard]] std::vector<std::byte> joined() const;
};

// The form in which a device can encode an image in place of a writer (kernels/png/encoding.h,
// kernels/jpeg/encoding.h).
struct DeviceForm {
  enum class Kind { none, png_strips, jpeg_scan };
  Kind kind = Kind::none;
  int quality = 90;                // for JPEG
  bool subsampled_chroma = false;  // for JPEG: 4:2:0
};

// Encodes the rows of one image. All rows pass through write_rows(), top to bottom, or all through
// write_strip(), if strip_rows() is not 0.
class Writer {
 public:
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Takes the next rows.height rows; width, channels and sample type are those of the constructor's shape.
  virtual void write_rows(ConstHostView rows) = 0;

  // Returns the height of independently encoded strips; 0 if not supported. Depends on the image's shape
  // only; the last strip has the remaining rows.
  [[nodiscard]] virtual std::int64_t strip_rows() const noexcept { return 0; }
  // Takes one whole strip: the rows from `first`, a multiple of strip_rows(). Strips may come in any order
  // and concurrently. Throws Error(usage) for rows that are not a strip.
  virtual void write_strip(std::int64_t first, ConstHostView rows);

  // Returns the form that a device can produce for this writer; `none`: the writer takes rows only.
  [[nodiscard]] virtual DeviceForm device_form() const noexcept { return {}; }
  // Replaces write_strip() for DeviceForm::png_strips. `bytes`: the strip's deflate block or, if `filtered`,
  // its filtered rows, which the writer compresses. `adler`: the Adler-32 of the filtered rows.
  struct EncodedStrip {
    std::span<const std::byte> bytes;
    std::uint32_t adler = 1;
    bool filtered = false;
  };
  virtual void give_strip(std::int64_t first, const EncodedStrip& strip);
  // Replaces write_rows() for DeviceForm::jpeg_scan: the complete entropy-coded data, with byte stuffing.
  virtual void give_scan(std::span<const std::byte> bytes);

  // Returns the most bytes held at one time, including the finished file, for any image of this shape.
  [[nodiscard]] virtual std::int64_t working_bytes() const = 0;
  // The same if take_finished() is called after every `rows` rows or every strip.
  [[nodiscard]] virtual std::int64_t working_bytes_when_taken(std::int64_t rows) const;
  // Returns the extra memory per additional thread in write_strip().
  [[nodiscard]] virtual std::int64_t strip_bytes() const { return 0; }
  // The same as Reader::library_bytes().
  [[nodiscard]] virtual std::int64_t library_bytes() const { return 0; }

  // Returns the finished parts of the file since the last call, in order; finish() then returns the rest.
  // Values in the header that are known only at the end come as patches, which the caller must apply. Always
  // empty if the format begins with the last row. Thread-safe alongside write_strip().
  [[nodiscard]] virtual EncodedFile take_finished();

  // Returns the whole file, after the last row. Throws Error(memory) or Error(usage) if it cannot be made.
  [[nodiscard]] virtual EncodedFile finish() = 0;

 protected:
  Writer() = default;
};

// Returns the shape that a file of this format stores: drops alpha it cannot hold, expands grey to RGB if it
// holds only colour. Throws Error(usage) if colours would be lost or the samples have too many bits, and for
// a tensor in an image format, or an image in a format of tensors.
[[nodiscard]] Shape storable_shape(Format format, Shape shape, bool is_tensor = false);

// Makes a writer for rows of `shape`, which it converts to storable_shape(). Throws Error(usage) for formats
// that cannot be written and for shapes too large (JPEG: sides over 65,500; WebP: 16,383).
[[nodiscard]] std::unique_ptr<Writer> make_writer(Format format, Shape shape,
                                                  const EncodeOptions& options = {});

// holds_pages() returns whether files of this format can hold several pages. max_page_bytes() returns the
// maximum size of a page of this shape, without metadata; it throws Error(usage) like make_writer().
[[nodiscard]] bool holds_pages(Format format);
[[nodiscard]] std::int64_t max_page_bytes(Format format, const Shape& shape, const EncodeOptions& options);

// Returns name and version of every codec library in this build: "libpng 1.6.39" and so on.
[[nodiscard]] std::vector<std::string> codec_versions();

}  // namespace imgpipe

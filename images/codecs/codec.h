// Image files in memory: bytes to rows of pixels, rows of pixels to bytes.
//
// A codec works by rows, so that decoding, upload, stages and encoding can overlap and a whole RGB image
// need never exist. Formats whose library only decodes whole images sit behind the same two interfaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/exif.h"
#include "images/plane.h"

namespace imgpipe {

enum class Format { jpeg, png, bmp, gif, tga, psd, webp, tiff, pbm, pgm, ppm, pnm };

// What a person may want to know of a format; made of the codecs' rows (images/formats/codec_table.h).
struct FormatInfo {
  Format format = Format::png;
  std::string_view name;                      // as --format takes it
  std::span<const std::string_view> endings;  // of file names, lower case, without the dot
  bool readable = false;
  bool writable = false;
  bool holds_alpha = false;
  bool holds_color = false;
  int written_bits = 8;  // a sample: the most that its writer takes
};

[[nodiscard]] std::span<const FormatInfo> format_table();
[[nodiscard]] const FormatInfo& format_info(Format format);
// By --format name or by the ending of a file name, ignoring case; nullopt when there is none.
[[nodiscard]] std::optional<Format> format_by_name(std::string_view name);
[[nodiscard]] std::optional<Format> format_by_ending(std::string_view file_name);
// By content alone: signatures, and for TGA (which has none) a header that is valid in every field.
[[nodiscard]] std::optional<Format> format_by_content(std::span<const std::byte> bytes);

// Who decodes and encodes. `automatic`: for JPEG libjpeg-turbo, and our own decoder where that gives the same
// (images/codecs/jpeg/baseline_reader.h); for PNG libpng, and our own writer over our own coder, ISA-L and
// zlib; our own readers for the Netpbm formats (stb_image 2.27 swaps the bytes of 16-bit samples and ignores
// maxval) and for BMP, TGA, GIF and PSD (it gives wrong pixels for some), and our own writers for BMP and TGA
// (the same bytes as stb_image_write's, in a third of the memory); for TIFF our own directories and chunks
// over ISA-L, zlib and libzstd, and libtiff for LZW, JPEG and CCITT; for WebP libwebp. `stb` forces stb_image
// and stb_image_write wherever they know the format. `turbo` leaves every JPEG to libjpeg-turbo.
enum class CodecChoice { automatic, stb, turbo };

inline constexpr std::int64_t kDefaultMaxPixels = 268'435'456;

struct DecodeOptions {
  std::int64_t max_pixels = kDefaultMaxPixels;
  bool lenient = false;  // keep what a damaged file still holds, the rest mid-grey, with a warning
  bool orient = true;    // apply the EXIF orientation
  // The most bits that a sample of the rows may have: with 8 all come as u8; with 16 those of more than 8
  // bits come as u16, of the formats whose readers can: PNG, PGM, PPM, PSD and TIFF, all by our own codecs.
  int most_bits = 8;
  CodecChoice codec = CodecChoice::automatic;
  // The samples of a TIFF's pixel that the image is made of, from 1: one of grey, or three of RGB. Empty:
  // those that the file says are colours and alpha; an image with further ones is refused, or with
  // `colors_only` loses them.
  std::vector<int> bands{};
  bool colors_only = false;
  std::pmr::memory_resource* memory = std::pmr::new_delete_resource();  // for images held inside a reader

  [[nodiscard]] bool selects_bands() const noexcept { return colors_only || !bands.empty(); }
};

// What a file may hold besides pixels: metadata, and what cameras append.
inline constexpr std::int64_t kMostMetadataBytes = std::int64_t{256} << 20;

// The longest file that an image within these options can need: uncompressed 16-bit RGBA takes 8 bytes a
// pixel, plain Netpbm text up to 18.
[[nodiscard]] constexpr std::int64_t max_file_bytes(const DecodeOptions& options) {
  return options.max_pixels * 18 + kMostMetadataBytes;
}

// How long a file may be that begins like this (at least 64 bytes of it), by the size in its header: what its
// pixels can take and kMostMetadataBytes. Where the header is not whole yet, those alone; GIF frames and PSD
// layers are counted as far as the file goes on as it should. Throws Error(input) as open_reader() does for
// what is no image of a known format, or too large, so that no more of it need be read.
[[nodiscard]] std::int64_t longest_file(std::span<const std::byte> beginning, const DecodeOptions& options);

struct ImageHeader {
  Format format = Format::png;
  Shape shape;  // of the rows that the reader gives; their samples: DecodeOptions::most_bits
  // As stored. Netpbm: the bits that its maximum takes. Palettes: of the
  // colours, not of the indices.
  int bits_per_sample = 8;
  bool progressive = false;  // JPEG progressive or PNG interlaced: the decoder must see the whole file first
  Orientation orientation = Orientation::upright;  // as stored
  bool more_images = false;  // the file holds more than this image: an animation's further frames
  std::string profile;       // name of the embedded ICC profile that is not sRGB; empty: none, or sRGB
};

// For the user, where more_images is set.
inline constexpr const char* kMoreImagesWarning = "holds more than one image; the first is used";

struct JpegScan;  // images/codecs/jpeg/jpeg_scan.h

// Gives the rows of one image, top to bottom. The bytes it was opened on must outlive it.
class Reader {
 public:
  virtual ~Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const ImageHeader& header() const noexcept { return header_; }

  // Fills `rows` (header().shape but for the height, its sample type too) with the next rows.height rows.
  // With the last row the rest of the file is checked too (checksums, end marker). Throws Error(input), or
  // Error(memory), after which the reader is of no more use. Whether working_bytes() are available is to be
  // asked before the first row, with all else that the image takes (check_available()).
  void read_rows(HostView rows);

  // Where several threads at once can make the rows, bands can take the place of read_rows(); never both:
  //   begin_band()  for one band after the other, by one thread at a time. A band begins where the one before
  //                 it does or below, and no lower than its end: both may have rows in common.
  //   read_band()   for each that was begun, once, from any thread, while others are in it. It may work on
  //                 other bands too, and wait for threads that are in it with bands that were begun earlier.
  // The last band ends with the image. Once one of them has thrown, all throw.
  [[nodiscard]] virtual bool has_bands() const noexcept { return false; }
  void begin_band(std::int64_t first, std::int64_t rows);
  void read_band(std::int64_t first, HostView rows);
  // What each band takes that was begun and is not read yet, beside working_bytes(). Bands that are read
  // while one that was begun earlier is not yet may count too.
  [[nodiscard]] virtual std::int64_t band_bytes(std::int64_t /*rows*/) const { return 0; }

  // Before the first row: from now on fewer bytes are needed, and more time. False where that cannot be had.
  virtual bool use_less_memory() { return false; }

  // Who makes the rows at present, where that is not the format's library: for the report ("parallel"). Of a
  // damaged file the library may take over on the way. From any thread.
  [[nodiscard]] virtual std::string_view decoder() const noexcept { return {}; }

  // The most bytes that it will hold at one time, beside the file and the rows that it fills: by the header,
  // before it holds them. `whole`: all rows are asked for in one call. Zero where nothing of it grows with
  // the image.
  [[nodiscard]] virtual std::int64_t working_bytes(bool whole) const;
  // What of them a library takes from malloc(), where block_pool() does not see it, as far as that grows with
  // the image.
  [[nodiscard]] virtual std::int64_t library_bytes(bool whole) const;

  // What a device needs to make the same pixels of a JPEG (kernels/jpeg/): nullptr where the rows are to be
  // had from here only. It then takes the place of all rows; before the first.
  [[nodiscard]] virtual const JpegScan* jpeg_scan() const noexcept { return nullptr; }
  // With jpeg_scan(), when its pixels are made and in order: judges what stands behind the end marker,
  // `behind_end` of the scan's data, as the last row does. Throws Error(input).
  virtual void judge_end(std::size_t behind_end);

  // What was let pass, in the order seen: damage with --lenient, and unknown bytes behind a camera's JPEG.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 protected:
  Reader() = default;
  // `rows` have the samples that header().shape says.
  virtual void read_next_rows(HostView rows) = 0;
  virtual void finish() {}
  // As begin_band() and read_band(). The second checks the rest of the file with the last row by itself.
  virtual void begin_next_band(std::int64_t first, std::int64_t rows);
  virtual void read_begun_band(std::int64_t first, HostView rows);

  ImageHeader header_;
  std::vector<std::string> warnings_;

 private:
  std::int64_t rows_given_ = 0;
  std::int64_t band_first_ = 0;  // of the band that was begun last
};

// Opens an image: tells the format by content, reads the header and judges it (size against max_pixels).
// Nothing that grows with the image is allocated before its first row is read, but for CodecChoice::stb,
// which decodes here, within the available memory. Samples come out as 8 bits: PNG, PSD, Netpbm, BMP and
// TGA values v of a maximum m as (v*255 + m/2) / m, palettes and fewer bits expanded, CMYK and YCCK
// converted to RGB. Those of more than 8 bits come out as 16, as (v*65535 + m/2) / m in this machine's
// byte order, where DecodeOptions::most_bits is 16 and the codec is not stb. Colour profiles and gamma
// are not applied. Throws Error(input) or Error(memory) with a reason that holds no byte of the file.
[[nodiscard]] std::unique_ptr<Reader> open_reader(std::span<const std::byte> bytes,
                                                  const DecodeOptions& options = {});

// The most that open_reader() holds at one time before it returns, beside the file: nothing that grows with
// the image, but for CodecChoice::stb, by the header. Throws Error(input).
[[nodiscard]] std::int64_t opening_bytes(std::span<const std::byte> bytes, const DecodeOptions& options);

// What a result was made of, and how: hashes of 64 bits.
struct Provenance {
  std::uint64_t name = 0;     // of the input's name relative to INPUT
  std::uint64_t content = 0;  // content_hash() of the input (images/files/input_file.h); 0: not known yet
  std::uint64_t options = 0;  // of the options that shape the output's bytes

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

// What the files of imgpipe carry (images/codecs/mark.h).
struct Mark {
  enum class Kind {
    none,
    result,     // of a pipeline's run
    synthetic,  // a test image
  };
  Kind kind = Kind::none;
  std::optional<Provenance> made_of{};  // of a result; none: the mark is plain

  static const Mark none, result, synthetic;  // plain
  friend bool operator==(const Mark&, const Mark&) = default;
};
inline constexpr Mark Mark::none{};
inline constexpr Mark Mark::result{Mark::Kind::result};
inline constexpr Mark Mark::synthetic{Mark::Kind::synthetic};

// How the pixels of a WebP are stored.
enum class WebpCoding { lossless, lossy };
// How the strips or tiles of a TIFF are packed: deflate, lzw and zstd with horizontal differencing.
enum class TiffPacking { none, deflate, packbits, zstd, lzw };

struct Metadata;       // images/codecs/metadata/metadata.h
struct StackPosition;  // images/codecs/pages.h

struct EncodeOptions {
  int quality = 90;   // JPEG and lossy WebP, 1..100
  int png_level = 1;  // 1: png/strip_rule.h; 0, 2, 3: ISA-L's levels; 4 to 9: zlib's, 9 the smallest
  TiffPacking tiff_packing = TiffPacking::deflate;  // deflate by png_level
  int tiff_tile = 0;                                // side of the tiles, a multiple of 16; 0: strips
  CodecChoice codec = CodecChoice::automatic;
  Mark mark = Mark::none;  // that the file is to carry
  WebpCoding webp = WebpCoding::lossless;
  int webp_level = 1;                               // 0..9, 9 the smallest
  std::shared_ptr<const Metadata> metadata{};       // nullptr: none
  std::shared_ptr<const StackPosition> in_stack{};  // nullptr: a standalone file
};

// A file in memory, as parts that follow one another: what is encoded strip by strip is never copied
// together.
struct EncodedFile {
  // Bytes that take the place of as many of the file, `at` bytes behind its beginning.
  struct Patch {
    std::uint64_t at = 0;
    std::vector<std::byte> bytes;
  };

  std::vector<std::vector<std::byte>> parts;
  std::vector<Patch> patches;  // of what Writer::take_finished() gave; nothing of it: none

  [[nodiscard]] std::size_t size_bytes() const noexcept;
  [[nodiscard]] std::vector<std::byte> joined() const;
};

// What a device makes of an image's pixels in place of its writer (kernels/png/encoding.h,
// kernels/jpeg/encoding.h).
struct DeviceForm {
  enum class Kind { none, png_strips, jpeg_scan };
  Kind kind = Kind::none;
  int quality = 90;            // of a JPEG
  bool halved_colors = false;  // of a JPEG: 4:2:0
};

// Takes the rows of one image and ends in the file's bytes. Either all rows come top to bottom through
// write_rows(), or, where strip_rows() is not 0, all come through write_strip().
class Writer {
 public:
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // The next rows.height rows; their width, channels and sample type are those the writer was made for.
  virtual void write_rows(ConstHostView rows) = 0;

  // The height of a strip where strips can be encoded by themselves, 0 where they cannot. It depends on the
  // image's shape only; the last strip has what is left.
  [[nodiscard]] virtual std::int64_t strip_rows() const noexcept { return 0; }
  // One strip whole: the rows from `first`, a multiple of strip_rows(), on. Strips may come in any order and
  // from several threads at once. Throws Error(usage) for rows that are no strip.
  virtual void write_strip(std::int64_t first, ConstHostView rows);

  // What a device can make for this writer; `none`: it takes rows only.
  [[nodiscard]] virtual DeviceForm device_form() const noexcept { return {}; }
  // In place of write_strip(), of DeviceForm::png_strips: the strip as the device made it, the bytes of its
  // block of deflate; or, with `filtered`, its filtered rows, which are then compressed here. `adler`: the
  // Adler-32 of the filtered rows.
  struct MadeStrip {
    std::span<const std::byte> bytes;
    std::uint32_t adler = 1;
    bool filtered = false;
  };
  virtual void give_strip(std::int64_t first, const MadeStrip& strip);
  // In place of write_rows(), of DeviceForm::jpeg_scan: all of the entropy-coded data, with stuffing.
  virtual void give_scan(std::span<const std::byte> bytes);

  // The most bytes that it will hold at one time, the finished file among them: of any image of this shape,
  // noise too. Known before the first row.
  [[nodiscard]] virtual std::int64_t working_bytes() const = 0;
  // The same where take_finished() is called behind each `rows` rows or each strip.
  [[nodiscard]] virtual std::int64_t working_bytes_when_taken(std::int64_t rows) const;
  // What each further thread takes that is in write_strip() at the same time.
  [[nodiscard]] virtual std::int64_t strip_bytes() const { return 0; }
  // As Reader::library_bytes().
  [[nodiscard]] virtual std::int64_t library_bytes() const { return 0; }

  // What of the file is finished and was not taken before, in its order; finish() then gives the rest, and
  // patches where the beginning says what is known at the end only: who takes must be able to apply them.
  // Nothing where a format begins with its last row. From any thread while others are in write_strip().
  [[nodiscard]] virtual EncodedFile take_finished();

  // After the last row: the whole file. Throws Error(memory) or Error(usage) when it cannot be made.
  [[nodiscard]] virtual EncodedFile finish() = 0;

 protected:
  Writer() = default;
};

// The shape that a file of this format holds of an image of this shape: alpha dropped where it cannot be
// held, grey spread to RGB where only colour can be. Throws Error(usage) where the colours cannot be kept, or
// the samples have more bits than its writer takes.
[[nodiscard]] Shape storable_shape(Format format, Shape shape);

// Makes a writer for rows of `shape`; it converts them to storable_shape() itself. Throws Error(usage) for a
// format that cannot be written or a shape beyond what it holds (JPEG: 65,500 a side; WebP: 16,383).
[[nodiscard]] std::unique_ptr<Writer> make_writer(Format format, Shape shape,
                                                  const EncodeOptions& options = {});

// Whether several pages can be one file of this format, and the most bytes that one of this shape then takes,
// metadata aside. Throws Error(usage) as make_writer() does.
[[nodiscard]] bool holds_pages(Format format);
[[nodiscard]] std::int64_t most_page_bytes(Format format, const Shape& shape, const EncodeOptions& options);

// Name and version of every codec library in this build, "libpng 1.6.39" and so on.
[[nodiscard]] std::vector<std::string> codec_versions();

}  // namespace imgpipe

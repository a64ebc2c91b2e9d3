#include "images/codecs/tiff/tiff_library.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "images/codecs/sniff.h"
#include "images/codecs/tiff/tiff_functions.h"
#include "images/codecs/tiff/tiff_handle.h"
#include "images/error.h"
#include "images/late_library.h"
#include "images/text.h"

namespace imgpipe {
namespace {

struct Sampling {
  int horizontal = 1, vertical = 1;
  friend bool operator==(const Sampling&, const Sampling&) = default;
};

// ---- a file in memory with a header and one directory -----------------------------------------------------

class TiffFileBuilder {
 public:
  TiffFileBuilder() {
    const bool big_endian = std::endian::native == std::endian::big;
    append_text(bytes_, big_endian ? std::string_view("MM") : std::string_view("II"));
    append_number<std::uint16_t>(42);
    append_number<std::uint32_t>(8);
  }

  void add(std::uint16_t tag, std::uint32_t value) { fields_.push_back({tag, TIFF_LONG, 1, value, {}}); }
  // Adds a field of 16-bit values.
  void add(std::uint16_t tag, const std::vector<std::uint16_t>& values) {
    Field field{tag, TIFF_SHORT, static_cast<std::uint32_t>(values.size()), 0, {}};
    field.data.resize(values.size() * 2);
    std::memcpy(field.data.data(), values.data(), field.data.size());
    fields_.push_back(std::move(field));
  }
  void add(std::uint16_t tag, Bytes data) {
    fields_.push_back(
        {tag, TIFF_UNDEFINED, static_cast<std::uint32_t>(data.size()), 0, {data.begin(), data.end()}});
  }

  [[nodiscard]] std::vector<std::byte> build() {
    std::ranges::sort(fields_, {}, &Field::tag);
    std::uint32_t end = 8 + 2 + static_cast<std::uint32_t>(fields_.size()) * 12 + 4;
    append_number(static_cast<std::uint16_t>(fields_.size()));
    std::vector<std::byte> values;
    for (Field& field : fields_) {
      append_number(field.tag);
      append_number(field.type);
      append_number(field.count);
      if (field.data.empty()) {
        append_number(field.value);
      } else if (field.data.size() <= 4) {
        field.data.resize(4);
        bytes_.insert(bytes_.end(), field.data.begin(), field.data.end());
      } else {
        append_number(static_cast<std::uint32_t>(end + values.size()));
        field.data.resize((field.data.size() + 1) / 2 * 2);
        values.insert(values.end(), field.data.begin(), field.data.end());
      }
    }
    append_number<std::uint32_t>(0);
    bytes_.insert(bytes_.end(), values.begin(), values.end());
    return std::move(bytes_);
  }

 private:
  struct Field {
    std::uint16_t tag, type;
    std::uint32_t count, value;
    std::vector<std::byte> data;
  };

  template <class T>
  void append_number(T value) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  std::vector<std::byte> bytes_;
  std::vector<Field> fields_;
};

// Describes a chunk as an image of one strip.
std::vector<std::byte> make_file(const TiffPage& page, std::int64_t rows, Sampling sampling) {
  TiffFileBuilder file;
  const int samples = page.samples_in_chunk();
  const bool ycbcr = page.color == TiffColor::ycbcr;
  file.add(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(page.cell_width));
  file.add(TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(rows));
  file.add(TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(rows));
  file.add(TIFFTAG_BITSPERSAMPLE,
           std::vector(static_cast<std::size_t>(samples), static_cast<std::uint16_t>(page.bits)));
  file.add(TIFFTAG_COMPRESSION, static_cast<std::uint32_t>(page.compression));
  // The colour model affects JPEG only; a separate plane is grey.
  const bool colored = !page.separate && samples == page.colors();
  file.add(TIFFTAG_PHOTOMETRIC, ycbcr                                               ? PHOTOMETRIC_YCBCR
                                : colored && page.color == TiffColor::rgb           ? PHOTOMETRIC_RGB
                                : colored && page.color == TiffColor::cmyk          ? PHOTOMETRIC_SEPARATED
                                : colored && page.color == TiffColor::white_is_zero ? PHOTOMETRIC_MINISWHITE
                                                                                    : PHOTOMETRIC_MINISBLACK);
  file.add(TIFFTAG_SAMPLESPERPIXEL, static_cast<std::uint32_t>(samples));
  file.add(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  file.add(TIFFTAG_STRIPOFFSETS, 8);
  file.add(TIFFTAG_STRIPBYTECOUNTS, 1);
  const int base = colored ? page.colors() : 1;
  if (samples > base)
    file.add(TIFFTAG_EXTRASAMPLES, std::vector(static_cast<std::size_t>(samples - base), std::uint16_t{0}));
  if (page.compression == TiffCompression::ccitt_t4) file.add(TIFFTAG_GROUP3OPTIONS, page.t4_options);
  if (ycbcr) {
    file.add(TIFFTAG_YCBCRSUBSAMPLING, {static_cast<std::uint16_t>(sampling.horizontal),
                                        static_cast<std::uint16_t>(sampling.vertical)});
  }
  if (!page.jpeg_tables.empty()) file.add(TIFFTAG_JPEGTABLES, page.jpeg_tables);
  return file.build();
}

// ---- JPEG: checks that the library would make too late ----------------------------------------------------

[[noreturn]] void fail_jpeg(const char* reason) {
  throw Error(ErrorKind::input, std::string("TIFF: a JPEG strip or tile ") + reason);
}

// Returns the sampling of a chunk's first component. Throws Error(input) for data that would take unbounded
// memory or is not part of TIFF (Technical Note 2): several scans, progressive, lossless, arithmetic.
Sampling check_jpeg(Bytes data, const TiffPage& page) {
  if (!matches_at(data, 0, "\xFF\xD8")) fail_jpeg("does not start with a JPEG marker");
  std::optional<Sampling> sampling;
  for (std::size_t at = 2; at + 4 <= data.size();) {
    if (data[at] != std::byte{0xFF}) break;
    const std::uint32_t marker = big_endian(data, at + 1, 1);
    if (marker == 0xFF) {  // fill
      ++at;
      continue;
    }
    const std::size_t length = big_endian(data, at + 2, 2);
    const Bytes segment = bytes_at(data, at + 4, length < 2 ? 0 : length - 2);
    if (length < 2 || segment.size() + 2 != length) break;
    if (marker == 0xC0 || marker == 0xC1) {
      if (segment.size() < 9 ||
          big_endian(segment, 5, 1) != static_cast<std::uint32_t>(page.samples_in_chunk()))
        fail_jpeg("differs from the image in the number of samples");
      const std::uint32_t factors = big_endian(segment, 7, 1);
      sampling = Sampling{static_cast<int>(factors >> 4), static_cast<int>(factors & 15)};
    } else if (marker > 0xC0 && marker < 0xD0 && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
      fail_jpeg("is not baseline JPEG");
    } else if (marker == 0xDA) {
      if (!sampling) break;
      if (big_endian(segment, 0, 1) != static_cast<std::uint32_t>(page.samples_in_chunk()))
        fail_jpeg("has several scans, which is not supported");
      return *sampling;
    }
    at += 2 + length;
  }
  fail_jpeg("is damaged");
}

}  // namespace

// ---- the library's handle ---------------------------------------------------------------------------------

struct TiffLibrary::Handle {
  Handle(const TiffPage& page, std::int64_t chunk_rows, Sampling factors)
      : rows(chunk_rows), sampling(factors), library(make_file(page, chunk_rows, factors), "rm") {
    if (library.get() != nullptr && page.color == TiffColor::ycbcr)
      late_tiff::TIFFSetField(library.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }

  std::int64_t rows;
  Sampling sampling;
  TiffHandle library;
};

bool is_for_libtiff(TiffCompression compression) {
  switch (compression) {
    case TiffCompression::lzw:
    case TiffCompression::jpeg:
    case TiffCompression::ccitt_rle:
    case TiffCompression::ccitt_t4:
    case TiffCompression::ccitt_t6:
    case TiffCompression::ccitt_rle_words:
      return true;
    default:
      return false;
  }
}

TiffLibrary::TiffLibrary(const TiffPage& page, bool lenient) : page_(page), lenient_(lenient) {}
TiffLibrary::~TiffLibrary() = default;

std::int64_t TiffLibrary::library_bytes(const TiffPage& page) {
  constexpr std::int64_t kLzwBytes = std::int64_t{160} << 10;  // code table
  constexpr std::int64_t kHandleBytes = std::int64_t{32} << 10;
  const std::int64_t width = page.cell_width;
  switch (page.compression) {
    case TiffCompression::lzw:
      return kHandleBytes + kLzwBytes;
    case TiffCompression::jpeg:
      // libjpeg's rows of blocks, at most 4 blocks high, plus context rows.
      return kHandleBytes + (std::int64_t{64} << 10) + (width + 64) * page.samples_in_chunk() * 64;
    default:
      return kHandleBytes + (width + 64) * 20;  // positions of colour changes in two lines
  }
}

void TiffLibrary::unpack(std::span<const std::byte> data, std::int64_t rows, std::span<std::byte> out) {
  const Sampling sampling = page_.compression == TiffCompression::jpeg ? check_jpeg(data, page_) : Sampling();
  if (!handle_ || handle_->rows != rows || handle_->sampling != sampling) {
    handle_.reset();
    handle_ = std::make_unique<Handle>(page_, rows, sampling);
  }
  TiffHandle& library = handle_->library;
  // The library takes its input as non-const and modifies it only to reverse bits.
  const bool done = library.get() != nullptr && late_tiff::TIFFStripSize64(library.get()) == out.size() &&
                    late_tiff::TIFFReadFromUserBuffer(library.get(), 0, const_cast<std::byte*>(data.data()),
                                                      static_cast<tmsize_t>(data.size()), out.data(),
                                                      static_cast<tmsize_t>(out.size())) != 0;
  std::string error = library.take_error();
  std::string warning = library.take_warning();
  if (!done) {
    handle_.reset();
    if (error.empty()) error = warning.empty() ? "libtiff cannot decompress it" : warning;
    throw Error(ErrorKind::input, "TIFF: " + error);
  }
  if (error.empty()) error = std::move(warning);
  if (error.empty()) return;
  if (!lenient_) throw Error(ErrorKind::input, "TIFF: " + error);
  warning_ = "TIFF: " + error;
}

std::string libtiff_version() {
  return library_version("libtiff", [] {
    // "LIBTIFF, Version 4.5.0\nCopyright ..."
    std::string_view text = late_tiff::TIFFGetVersion();
    if (const std::size_t at = text.find("Version "); at != text.npos) text.remove_prefix(at + 8);
    return printable(text.substr(0, text.find('\n')));
  });
}

}  // namespace imgpipe

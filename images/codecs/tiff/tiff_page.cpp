#include "images/codecs/tiff/tiff_page.h"

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "images/codecs/metadata/description.h"
#include "images/codecs/tiff/tiff_directory.h"
#include "images/error.h"

namespace imgpipe {
namespace {

void require(bool condition, const char* reason) {
  if (!condition) fail_tiff(reason);
}

// Typed access to the fields of a directory.
class Fields {
 public:
  Fields(const TiffDirectory& directory, bool lenient) : directory_(directory), lenient_(lenient) {}

  [[nodiscard]] std::optional<TiffValues> find(TiffTag tag) const { return directory_.find(tag, lenient_); }
  // Returns the only or first value.
  [[nodiscard]] std::uint64_t number(TiffTag tag, std::uint64_t otherwise) const {
    const std::optional<TiffValues> values = find(tag);
    return values ? (*values)[0] : otherwise;
  }
  [[nodiscard]] std::int64_t side(TiffTag tag, const char* missing) const {
    const std::uint64_t value = number(tag, 0);
    require(value > 0, missing);
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::uint64_t{1} << 32));
  }
  // Returns the value that all samples share.
  [[nodiscard]] std::uint64_t of_all_samples(TiffTag tag, std::uint64_t otherwise, const char* differ) const {
    const std::optional<TiffValues> values = find(tag);
    if (!values) return otherwise;
    for (std::size_t i = 1; i < values->size(); ++i) require((*values)[i] == (*values)[0], differ);
    return (*values)[0];
  }

 private:
  const TiffDirectory& directory_;
  bool lenient_;
};

// Returns the type of samples other than unsigned integers of up to 16 bits.
std::optional<StoredType> type_of(std::uint64_t format, std::uint64_t bits) {
  struct Row {
    std::uint64_t format, bits;
    StoredType type;
  };
  constexpr Row kRows[] = {{1, 32, StoredType::u32}, {2, 8, StoredType::i8},   {2, 16, StoredType::i16},
                           {2, 32, StoredType::i32}, {3, 16, StoredType::f16}, {3, 32, StoredType::f32}};
  for (const Row& row : kRows)
    if (row.format == format && row.bits == bits) return row.type;
  return std::nullopt;
}

void read_samples(const Fields& fields, TiffPage& page) {
  const std::uint64_t samples = fields.number(TiffTag::samples, 1);
  if (samples < 1 || samples > kMaxTiffSamples)
    fail_tiff("expected 1 to 64 samples per pixel, got " + std::to_string(samples));
  page.samples = static_cast<int>(samples);
  const std::uint64_t format =
      fields.of_all_samples(TiffTag::sample_format, 1, "samples of different formats are not supported");
  if (format == 5 || format == 6) fail_tiff("complex samples are not supported");
  require(format >= 1 && format <= 3, "samples of unknown format");
  const std::uint64_t bits =
      fields.of_all_samples(TiffTag::bits, 1, "samples with different numbers of bits are not supported");
  page.type = type_of(format, bits);
  if (!page.type && (format != 1 || bits < 1 || bits > 16))
    fail_tiff((format == 2   ? "signed samples of "
               : format == 3 ? "floating-point samples of "
                             : "samples of ") +
              std::to_string(bits) + " bits are not supported");
  page.bits = static_cast<int>(bits);
}

TiffColor color_of(std::uint64_t photometric) {
  switch (photometric) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 5:
    case 6:
      return static_cast<TiffColor>(photometric);
    case 4:
      fail_tiff("transparency masks are not supported");
    case 8:
    case 9:
    case 10:
      fail_tiff("Lab colour is not supported");
    case 32803:
      fail_tiff("colour filter arrays (raw photographs) are not supported");
    case 32844:
    case 32845:
      fail_tiff("LogL and LogLuv are not supported");
    case 34892:
      fail_tiff("linear raw photographs are not supported");
    default:
      fail_tiff("unknown photometric interpretation " + std::to_string(photometric));
  }
}

std::string band_list(int samples) {
  return samples < 3 ? "1" : "1,2,3";
}

// Selects the samples of DecodeOptions::bands: one becomes grey, three become RGB.
void choose_bands(std::span<const int> bands, TiffPage& page) {
  page.shown = bands.size() == 3                        ? TiffColor::rgb
               : page.color == TiffColor::white_is_zero ? TiffColor::white_is_zero
                                                        : TiffColor::black_is_zero;
  page.alpha = TiffAlpha::none;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    if (bands[i] < 1 || bands[i] > page.samples)
      fail_tiff("--bands: band " + std::to_string(bands[i]) + " does not exist; the image has " +
                std::to_string(page.samples));
    page.source.at(i) = static_cast<std::uint8_t>(bands[i] - 1);
  }
}

// Never drops a sample without the user's request, nor turns one into alpha unless the file declares it.
void read_extra_samples(const Fields& fields, const DecodeOptions& options, TiffPage& page) {
  page.shown = page.color;
  const int extras = page.samples - page.colors();
  if (const std::optional<TiffValues> field = fields.find(TiffTag::extra_samples); field && extras > 0)
    page.extra_samples = *field;
  if (!options.bands.empty()) return choose_bands(options.bands, page);
  if (extras == 0) return;
  switch (page.extra(0)) {
    case TiffExtra::premultiplied:
      page.alpha = TiffAlpha::premultiplied;
      break;
    case TiffExtra::straight:
      page.alpha = TiffAlpha::straight;
      break;
    case TiffExtra::not_stated:  // many writers omit the field for RGBA
      page.alpha = extras == 1 ? TiffAlpha::straight : TiffAlpha::none;
      break;
    case TiffExtra::unspecified:
      break;
  }
  int named_alpha = 0;
  for (int i = 0; i < extras; ++i)
    named_alpha += page.extra(i) == TiffExtra::straight || page.extra(i) == TiffExtra::premultiplied ? 1 : 0;
  if (page.type && page.alpha == TiffAlpha::premultiplied)
    fail_tiff("premultiplied alpha is not supported for these samples; choose --bands " +
              band_list(page.samples));
  const int unused = extras - (page.alpha == TiffAlpha::none ? 0 : 1);
  if (unused == 0) return;
  if (page.color == TiffColor::black_is_zero && page.samples == 3 && named_alpha == 0)
    return choose_bands(std::array{1, 2, 3}, page);
  page.bands_needed = std::to_string(unused) + " of the image's " + std::to_string(page.samples) +
                      " bands cannot be preserved; process each as a grey image with --bands all, choose one "
                      "or three, such as --bands " +
                      band_list(page.samples) + ", or leave them out with --bands color";
}

void read_color(const Fields& fields, bool lenient, TiffPage& page) {
  const std::optional<TiffValues> photometric = fields.find(TiffTag::photometric);
  require(lenient || photometric.has_value(), "the photometric interpretation is missing");
  page.color = photometric         ? color_of((*photometric)[0])
               : page.samples >= 3 ? TiffColor::rgb
                                   : TiffColor::black_is_zero;
  require(page.samples >= page.colors(), "too few samples for the colour space");
  require(!page.type || page.color == TiffColor::black_is_zero || page.color == TiffColor::rgb,
          "signed, 32-bit and floating-point samples must be grey (black is zero) or RGB");
  if (page.color == TiffColor::cmyk)
    require(fields.number(TiffTag::ink_set, 1) == 1, "inks other than CMYK are not supported");
  if (page.color == TiffColor::palette) {
    require(page.bits <= 8, "palettes of more than 256 colours are not supported");
    const std::optional<TiffValues> map = fields.find(TiffTag::color_map);
    require(map.has_value(), "the palette is missing");
    require(map->size() == 3 * (std::size_t{1} << page.bits),
            "the palette size does not match the bits per sample");
    page.color_map = *map;
  }
}

TiffCompression compression_of(std::uint64_t value) {
  switch (value) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 7:
    case 8:
    case 32946:
    case 32773:
    case 32771:
    case 50000:
      return static_cast<TiffCompression>(value);
    case 6:
      fail_tiff("old-style JPEG compression is not supported");
    case 34712:
    case 33003:
    case 33005:
      fail_tiff("JPEG 2000 compression is not supported");
    case 34925:
      fail_tiff("LZMA compression is not supported");
    case 34887:
      fail_tiff("LERC compression is not supported");
    case 50001:
      fail_tiff("WebP compression is not supported");
    case 34661:
      fail_tiff("JBIG compression is not supported");
    default:
      fail_tiff("compression " + std::to_string(value) + " is not supported");
  }
}

bool is_ccitt(TiffCompression compression) {
  return compression == TiffCompression::ccitt_rle || compression == TiffCompression::ccitt_t4 ||
         compression == TiffCompression::ccitt_t6 || compression == TiffCompression::ccitt_rle_words;
}

void read_compression(const Fields& fields, TiffPage& page) {
  page.compression = compression_of(fields.number(TiffTag::compression, 1));
  const std::uint64_t order = fields.number(TiffTag::fill_order, 1);
  require(order == 1 || order == 2, "unknown bit order");
  page.reversed_bits = order == 2;
  const std::uint64_t predictor = fields.number(TiffTag::predictor, 1);
  require(predictor >= 1 && predictor <= 3, "unknown predictor");
  const bool may_predict =
      page.compression == TiffCompression::lzw || page.compression == TiffCompression::deflate ||
      page.compression == TiffCompression::old_deflate || page.compression == TiffCompression::zstd;
  page.predicted = predictor != 1 && may_predict;  // ignored with other compressions
  page.float_predicted = predictor == 3 && may_predict;
  if (page.predicted)
    require(page.bits == 8 || page.bits == 16 || page.bits == 32,
            "the predictor requires 8, 16 or 32 bits per sample");
  if (predictor == 3)
    require(page.type == StoredType::f16 || page.type == StoredType::f32,
            "the floating-point predictor requires floating-point samples");
  if (is_ccitt(page.compression)) {
    require(page.bits == 1 && page.samples == 1, "CCITT compression requires 1 bit per pixel");
    page.t4_options = static_cast<std::uint32_t>(fields.number(TiffTag::t4_options, 0));
    require((fields.number(TiffTag::t6_options, 0) & 2) == 0 && (page.t4_options & 2) == 0,
            "the uncompressed mode of CCITT compression is not supported");
  }
  if (page.compression == TiffCompression::jpeg) {
    require(page.bits == 8 && !page.type, "JPEG compression requires 8 bits per sample");
    require(page.color != TiffColor::palette, "JPEG compression of palette indices is not supported");
    if (const std::optional<TiffValues> tables = fields.find(TiffTag::jpeg_tables))
      page.jpeg_tables = tables->bytes();
  }
}

void read_cells(const Fields& fields, TiffPage& page) {
  const std::uint64_t planar = fields.number(TiffTag::planar, 1);
  require(planar == 1 || planar == 2, "unknown planar configuration");
  page.separate = planar == 2 && page.samples > 1;
  if (page.color == TiffColor::ycbcr) {
    require(page.compression == TiffCompression::jpeg, "YCbCr without JPEG compression is not supported");
    require(!page.separate && page.samples == 3,
            "YCbCr in separate planes, or with more samples, is not supported");
  }
  page.tiled = fields.find(TiffTag::tile_width).has_value() || fields.find(TiffTag::tile_offsets).has_value();
  if (page.tiled) {
    page.cell_width = fields.side(TiffTag::tile_width, "the tile width is missing");
    page.cell_height = fields.side(TiffTag::tile_height, "the tile height is missing");
    // Small images may have one tile of a usual size; no tile may be far larger than the image.
    constexpr std::int64_t kMaxTileBytes = std::int64_t{32} << 20;
    const std::int64_t pixel_bits = std::int64_t{page.samples} * page.bits;
    const std::int64_t most = std::max(4 * page.width * page.height, 8 * kMaxTileBytes / pixel_bits);
    require(page.cell_height <= most / page.cell_width, "the tiles are far larger than the image");
  } else {
    page.cell_width = page.width;
    const std::uint64_t rows =
        fields.number(TiffTag::rows_per_strip, std::numeric_limits<std::uint32_t>::max());
    require(rows > 0, "strips without rows");
    page.cell_height = static_cast<std::int64_t>(std::min(rows, static_cast<std::uint64_t>(page.height)));
  }
  page.across = (page.width + page.cell_width - 1) / page.cell_width;
  page.down = (page.height + page.cell_height - 1) / page.cell_height;
}

// Reduces a page whose samples are stored separately to its selected sample, before its chunks are read.
void select_plane(const TiffValues& offsets, const TiffValues& counts, TiffPage& page) {
  const auto chunks = static_cast<std::size_t>(page.across * page.down);
  const std::size_t first = chunks * page.source.front();
  page.offsets = offsets.part(first, chunks);
  page.counts = counts.part(first, chunks);
  page.samples = 1;
  page.separate = false;
  page.color = page.shown;
  page.source.front() = 0;
}

void read_chunks(const Fields& fields, Bytes file, const DecodeOptions& options, TiffPage& page) {
  // Some writers store the fields of tiles under the tags of strips; libtiff accepts them too.
  const auto find = [&](TiffTag of_tiles, TiffTag of_strips) {
    const auto values = page.tiled ? fields.find(of_tiles) : std::nullopt;
    return values ? values : fields.find(of_strips);
  };
  const auto offsets = find(TiffTag::tile_offsets, TiffTag::strip_offsets);
  const auto counts = find(TiffTag::tile_counts, TiffTag::strip_counts);
  require(offsets && counts, "the strip or tile offsets are missing");
  page.offsets = *offsets;
  page.counts = *counts;
  const auto chunks = [&] {
    return static_cast<std::uint64_t>(page.across * page.down) * static_cast<std::uint64_t>(page.planes());
  };
  require(page.offsets.size() >= chunks() && page.counts.size() >= chunks(),
          page.tiled ? "too few tiles for the image size" : "too few strips for the image size");
  if (options.bands_of_page && page.separate) select_plane(*offsets, *counts, page);
  if (options.lenient()) return;
  for (std::size_t i = 0; i < chunks(); ++i) {
    require(
        page.offsets[i] <= file.size() && page.counts[i] <= file.size() - page.offsets[i],
        page.tiled ? "truncated: a tile lies outside the file" : "truncated: a strip lies outside the file");
    require(page.counts[i] > 0, page.tiled ? "a tile has no data" : "a strip has no data");
  }
}

// Returns the maximum number of bytes that one compressed byte can become.
std::int64_t best_ratio(TiffCompression compression) {
  switch (compression) {
    case TiffCompression::none:
      return 1;
    case TiffCompression::packbits:
      return 64;
    case TiffCompression::lzw:
      return 4096;
    case TiffCompression::deflate:
    case TiffCompression::old_deflate:
      return 1032;
    case TiffCompression::jpeg:
      return 4096;
    default:
      return std::int64_t{1} << 20;  // zstd's runs, CCITT's blank lines
  }
}

}  // namespace

TiffExtra TiffPage::extra(int number) const {
  if (static_cast<std::size_t>(number) >= extra_samples.size()) return TiffExtra::not_stated;
  const std::uint64_t value = extra_samples[static_cast<std::size_t>(number)];
  return value == 1 ? TiffExtra::premultiplied : value == 2 ? TiffExtra::straight : TiffExtra::unspecified;
}

TiffPage read_tiff_page(Bytes file, std::uint64_t offset, const DecodeOptions& options) {
  const TiffDirectory directory(file, offset);
  const Fields fields(directory, options.lenient());
  TiffPage page;
  page.big_endian = is_big_endian_tiff(file);
  page.width = fields.side(TiffTag::width, "the width is missing");
  page.height = fields.side(TiffTag::height, "the height is missing");
  check_header({page.width, page.height, 1}, options);
  // The first image of a raw photograph is only a small preview.
  const bool is_reduced = (fields.number(TiffTag::subfile, 0) & 1) != 0;
  require(!fields.find(TiffTag::dng_version) && !(is_reduced && fields.find(TiffTag::sub_directories)),
          "raw photographs are not supported");
  read_samples(fields, page);
  read_color(fields, options.lenient(), page);
  read_extra_samples(fields, options, page);
  read_compression(fields, page);
  read_cells(fields, page);
  const std::int64_t row_bytes = (page.width * page.samples_in_chunk() * page.bits + 7) / 8;
  if (!options.lenient() || page.compression != TiffCompression::none)  // else missing pixels become mid-grey
    check_plausible(row_bytes * page.height * (options.bands_of_page ? 1 : page.planes()), file.size(),
                    best_ratio(page.compression));
  read_chunks(fields, file, options, page);
  const std::uint64_t orientation = fields.number(TiffTag::orientation, 1);
  if (orientation >= 1 && orientation <= 8) page.orientation = static_cast<Orientation>(orientation);
  if (const std::optional<TiffValues> profile = fields.find(TiffTag::profile))
    page.profile = profile->bytes();
  const std::uint64_t next = directory.next();
  require(options.lenient() || next < file.size(), "truncated: a further directory lies outside the file");
  const std::optional<TiffRawField> text = directory.find_raw(TiffTag::description);
  page.more_pages = next != 0 || (text && imagej_images(text->bytes) > 1);
  return page;
}

}  // namespace imgpipe

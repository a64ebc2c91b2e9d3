// Tests the memory of readers, counted byte for byte: opening allocates nothing proportional to the image,
// and reading takes no more than the estimate, and not much less.
#include <cstdint>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "images/synth.h"
#include "tests/support/allocations.h"
#include "tests/support/bmp_file.h"
#include "tests/support/file_parts.h"
#include "tests/support/gif_file.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/psd_file.h"
#include "tests/support/tiff_file.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::reader_memory_test {
namespace {

constexpr std::int64_t kWidth = 1501, kHeight = 1403;

Image picture(int channels) {
  return synthesize(parse_pattern("photo"), {kWidth, kHeight, channels}, 7);
}

// ---- files ------------------------------------------------------------------------------------------

void append_png(png_structp png, png_bytep data, png_size_t count) {
  auto* file = static_cast<Bytes*>(png_get_io_ptr(png));
  const auto* first = reinterpret_cast<const std::byte*>(data);
  file->insert(file->end(), first, first + count);
}

Bytes make_png(int bits, int channels, bool interlaced, std::int64_t width = kWidth,
               std::int64_t height = kHeight) {
  Bytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, append_png, nullptr);
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), bits,
               kTypes[channels - 1], interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_compression_level(png, 1);
  png_write_info(png, info);
  std::vector<Sample8> row(static_cast<std::size_t>(width * channels * (bits == 16 ? 2 : 1)));
  const int passes = interlaced ? png_set_interlace_handling(png) : 1;
  for (int pass = 0; pass < passes; ++pass) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < row.size(); ++x)
        row[x] = static_cast<Sample8>(x * 7 + static_cast<std::size_t>(y));
      png_write_row(png, row.data());
    }
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

Bytes written(Format format, int channels) {
  const Image image = picture(channels);
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(image.view());
  return writer->finish().joined();
}

Bytes make_deep_ppm() {
  Bytes file = bytes_of("P6 700 500 4095\n");
  for (std::size_t i = 0; i < std::size_t{700} * 500 * 3; ++i)
    put(file, static_cast<std::int64_t>(i % 4096), 2);
  return file;
}

Bytes make_gif(bool transparent) {
  Gif gif;
  gif.width = 600;
  gif.height = 500;
  if (transparent) gif.transparent = 3;
  Indices pixels;
  for (int i = 0; i < gif.width * gif.height; ++i)
    pixels.push_back(static_cast<int>(std::int64_t{i} * i % 3));
  return make_gif(gif, pixels, {});
}

Bytes make_composite() {
  Psd psd;
  psd.width = 700;
  psd.height = 300;
  psd.depth = 16;
  psd.layers = layer_count(-1);
  psd.channels.assign(4, Values(static_cast<std::size_t>(psd.width) * 300, 1000));
  return make_psd(psd);
}

Bytes make_rle_bmp() {
  Bmp bmp;
  bmp.width = 600;
  bmp.height = 500;
  bmp.bits = 8;
  bmp.compression = 1;
  bmp.colors = 2;
  bmp.palette = palette_bytes(2, 4);
  for (int y = 0; y < bmp.height; ++y) {
    for (const int value : {255, 0, 255, 1, 90, 0, 0, 0}) bmp.pixels.push_back(value);
  }
  bmp.pixels.push_back(0), bmp.pixels.push_back(1);
  return bmp.build();
}

// Noise and slopes of 1501 x 1403 pixels.
Bytes make_tiff_of(TiffKind kind) {
  kind.width = kWidth;
  kind.height = kHeight;
  Values values(static_cast<std::size_t>(kWidth * kHeight * kind.samples));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int>((i / 3 + i * i % 7) % (std::size_t{1} << kind.bits));
  return make_tiff(kind, values);
}

// ---- memory ------------------------------------------------------------------------------------------

struct Case {
  std::string name;
  std::function<Bytes()> make;
  DecodeOptions options = {};
  double looseness = 1.05;  // greatest ratio of the estimate to the actual peak
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  DecodeOptions lenient;
  lenient.accept = Acceptance::lenient;
  DecodeOptions pillow;
  pillow.accept = Acceptance::pillow;
  // Our own decoder's estimate assumes the most that 64 KB can encode; a photograph needs less than a third.
  constexpr double kOwnDecoderLooseness = 3.5;
  const auto jpeg = [&](const std::string& name, const JpegKind& kind, double looseness = 1.05) {
    all.push_back(
        {name, [kind] { return make_jpeg(kind, picture(channels_of(kind)).view()); }, {}, looseness});
  };
  jpeg("jpeg_444", {}, kOwnDecoderLooseness);
  jpeg("jpeg_420", {JCS_RGB, JCS_YCbCr, 2, 2}, kOwnDecoderLooseness);
  jpeg("jpeg_411", {JCS_RGB, JCS_YCbCr, 4, 1});
  jpeg("jpeg_grey", {JCS_GRAYSCALE, JCS_GRAYSCALE}, kOwnDecoderLooseness);
  jpeg("jpeg_cmyk", {JCS_CMYK, JCS_CMYK});
  jpeg("jpeg_progressive_444", {JCS_RGB, JCS_YCbCr, 1, 1, true});
  jpeg("jpeg_progressive_420", {JCS_RGB, JCS_YCbCr, 2, 2, true});
  jpeg("jpeg_progressive_grey", {JCS_GRAYSCALE, JCS_GRAYSCALE, 1, 1, true});
  jpeg("jpeg_progressive_ycck", {JCS_CMYK, JCS_YCCK, 2, 2, true});
  jpeg("jpeg_three_scans", {JCS_RGB, JCS_YCbCr, 2, 1, false, true});
  for (int orientation = 2; orientation <= 8; ++orientation)
    jpeg("jpeg_turned_" + std::to_string(orientation), {JCS_RGB, JCS_YCbCr, 2, 2, false, false, orientation},
         kOwnDecoderLooseness);
  jpeg("jpeg_progressive_turned", {JCS_RGB, JCS_YCbCr, 2, 2, true, false, 6});
  const auto png = [&](const std::string& name, int bits, int channels, bool interlaced) {
    all.push_back({name, [=] { return make_png(bits, channels, interlaced); }});
    all.push_back({name + "_lenient", [=] { return make_png(bits, channels, interlaced); }, lenient});
    all.push_back({name + "_pillow", [=] { return make_png(bits, channels, interlaced); }, pillow});
  };
  png("png_plain", 8, 3, false);
  png("png_16", 16, 4, false);
  png("png_interlaced", 8, 3, true);
  png("png_interlaced_16", 16, 4, true);
  DecodeOptions sixteen;
  sixteen.max_bits = 16;
  for (DecodeOptions options : {sixteen, lenient}) {
    const std::string name = options.lenient() ? "deep_lenient_" : "deep_";
    options.max_bits = 16;
    all.push_back({name + "png", [] { return make_png(16, 4, false); }, options});
    all.push_back({name + "png_interlaced", [] { return make_png(16, 3, true); }, options});
    all.push_back({name + "psd", make_composite, options});
    all.push_back({name + "ppm", [] { return make_deep_ppm(); }, options});
  }
  all.push_back({"deep_png_one_row", [] { return make_png(16, 4, false, 700'001, 1); }, sixteen, 1.5});
  all.push_back({"deep_of_8_bits", [] { return make_png(8, 3, false); }, sixteen});
  // The reader holds two rows; three when libpng checks the end of the file.
  all.push_back({"png_one_row", [] { return make_png(8, 4, false, 700'001, 1); }, {}, 1.5});
  all.push_back({"png_one_row_16", [] { return make_png(16, 4, false, 700'001, 1); }});
  all.push_back({"gif", [] { return make_gif(false); }});
  all.push_back({"gif_transparent", [] { return make_gif(true); }});
  all.push_back({"psd", make_composite});
  all.push_back({"bmp", [] { return written(Format::bmp, 3); }});
  all.push_back({"bmp_rle", make_rle_bmp});
  all.push_back({"tga_packed", [] { return written(Format::tga, 4); }});
  all.push_back({"ppm", [] { return written(Format::ppm, 3); }});
  // Some of our estimates for lossless images are rounded up.
  const auto webp = [&](const std::string& name, const WebpKind& kind, int channels, double looseness) {
    all.push_back({name, [=] { return make_webp(kind, picture(channels).view()); }, {}, looseness});
    all.push_back(
        {name + "_lenient", [=] { return make_webp(kind, picture(channels).view()); }, lenient, looseness});
  };
  constexpr double kTables = 1.2;
  webp("webp_lossless", {true, 1}, 3, kTables);
  webp("webp_lossless_alpha", {true, 6}, 4, kTables);
  webp("webp_lossy", {false, 4}, 3, 1.2);
  webp("webp_lossy_alpha", {false, 4}, 4, 16);  // few alpha values: one byte per pixel, not four
  webp("webp_lossy_plain_alpha", {false, 4, 90, true}, 4, 1.2);
  // 19 KB files that need 84 MB of tables.
  const auto chunk = [](const Bytes& stream) { return lossless_chunk(256, 256, stream); };
  all.push_back({"webp_many_codes", [=] { return riff_file(chunk(grouped_stream({}))); }, {}, kTables});
  all.push_back({"webp_codes_after_an_odd_one",
                 [=] {
                   return riff_file(chunk(grouped_stream({.distances = {0, 200}})));
                 },
                 {},
                 kTables});
  all.push_back({"webp_few_of_many_codes",
                 [=] { return riff_file(chunk(grouped_stream({.step = 30, .groups = 2000}))); },
                 {},
                 kTables});
  all.push_back({"webp_alpha_of_many_codes",
                 [] {
                   const Image image = synthesize(parse_pattern("photo"), {256, 256, 3}, 7);
                   return riff_file(vp8x(kWebpAlpha, 256, 256) +
                                    riff_chunk("ALPH", bytes_of("\x01") + grouped_stream({.cache_bits = 1})) +
                                    picture_chunks(make_webp({false, 4}, image.view())));
                 },
                 {},
                 kTables});
  all.push_back({"webp_lossless_cut",
                 [] {
                   Bytes file = make_webp({}, picture(4).view());
                   file.resize(file.size() / 2);
                   return file;
                 },
                 lenient, kTables});
  all.push_back({"tiff", [] { return written(Format::tiff, 3); }});
  const auto tiff = [&](const std::string& name, const TiffKind& kind) {
    all.push_back({"tiff_" + name, [kind] { return make_tiff_of(kind); }});
  };
  tiff("none", {.bits = 12, .samples = 3, .photometric = 2});
  tiff("packbits", {.samples = 3, .photometric = 2, .compression = 32773, .rows_per_strip = 100});
  tiff("lzw", {.bits = 16, .compression = 5, .predictor = 2, .rows_per_strip = 64});
  tiff("deflate_whole", {.bits = 16, .compression = 8});
  tiff("zstd_tiles",
       {.samples = 3, .photometric = 2, .compression = 50000, .tile_width = 512, .tile_height = 512});
  tiff("separate", {.samples = 3,
                    .photometric = 2,
                    .compression = 8,
                    .tile_width = 256,
                    .tile_height = 512,
                    .separate = true});
  tiff("jpeg", {.samples = 3, .photometric = 6, .compression = 7, .tile_width = 512, .tile_height = 512});
  tiff("fax", {.bits = 1, .photometric = 0, .compression = 4, .rows_per_strip = 200});
  tiff("reversed", {.bits = 4, .compression = 5, .rows_per_strip = 300, .reversed_bits = true});
  tiff("turned", {.compression = 8, .rows_per_strip = 50, .orientation = 6});
  for (const Format format : {Format::jpeg, Format::png, Format::bmp, Format::ppm}) {
    DecodeOptions stb;
    stb.codec = CodecChoice::stb;
    all.push_back({"stb_" + std::string(format_info(format).name), [=] { return written(format, 3); }, stb});
  }
  return all;
}

class ReaderMemory : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces malloc";
  }
};

void read(Reader& reader, HostView rows, bool whole) {
  if (whole) return reader.read_rows(rows);
  for (std::int64_t y = 0; y < reader.header().shape.height; y += 16)
    reader.read_rows(rows.rows(0, std::min<std::int64_t>(16, reader.header().shape.height - y)));
}

TEST_P(ReaderMemory, MatchesTheEstimate) {
  constexpr std::int64_t kRounding = 4096;                  // by malloc, and list nodes
  constexpr std::int64_t kSlack = std::int64_t{320} << 10;  // for memory that does not grow with the image
  const Bytes file = GetParam().make();
  const bool decodes_at_once = GetParam().options.codec == CodecChoice::stb;
  for (const bool whole : {true, false}) {
    std::unique_ptr<Reader> reader;
    const std::int64_t opened = peak_of([&] { reader = open_reader(file, GetParam().options); });
    if (!decodes_at_once) {
      EXPECT_LE(opened, 256 << 10);  // our JPEG decoder's tables
    }
    Image rows(reader->header().shape);
    const std::int64_t said = reader->working_bytes(whole);
    std::int64_t held = peak_of([&] { read(*reader, rows.untyped_view(), whole); });
    if (decodes_at_once) held += said - (whole ? 0 : reader->header().shape.bytes());
    EXPECT_LE(held, said + kRounding) << (whole ? "whole" : "in bands");
    EXPECT_LE(static_cast<double>(said), static_cast<double>(held) * GetParam().looseness + kSlack)
        << (whole ? "whole" : "in bands");
  }
}

TEST_P(ReaderMemory, IsFreedAtTheEnd) {
  const Bytes file = GetParam().make();
  const auto reader = open_reader(file, GetParam().options);
  Image rows(reader->header().shape);
  const std::int64_t before = held_bytes();
  read(*reader, rows.untyped_view(), false);
  EXPECT_LE(held_bytes() - before, 256 << 10);
}

INSTANTIATE_TEST_SUITE_P(Files, ReaderMemory, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace imgpipe::test::reader_memory_test

// Files with more than 8 bits per sample, read and written with 16: PNG against libpng, Netpbm and PSD
// against their definitions. With max_bits 8, rows are unchanged.
#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <png.h>

#include "images/codecs/codec.h"
#include "images/codecs/png/deflate.h"
#include "images/error.h"
#include "images/files/input_file.h"
#include "images/image.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/libpng_source.h"
#include "tests/support/psd_file.h"

namespace imgpipe::test::sixteen_bit_codec_test {
namespace {

using Bytes = std::vector<std::byte>;

Shape deep(Shape shape) {
  shape.sample = Sample::u16;
  return shape;
}

Plane<std::uint16_t, Host> view16(Image& image) {
  return image.untyped_view().as<std::uint16_t>();
}

// Returns rows of noise and of noisy gradients, so that every filter is chosen somewhere.
Image picture16(Shape shape, unsigned seed) {
  Image image(deep(shape));
  std::mt19937_64 random(seed);
  const auto plane = view16(image);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < plane.row_samples(); ++i) {
      const auto noise = static_cast<unsigned>(random());
      const unsigned smooth = static_cast<unsigned>(i * 97 + y * 1031) + noise % 5;
      plane.row(y)[i] = static_cast<std::uint16_t>(y % 3 == 0 ? noise : smooth);
    }
  }
  return image;
}

Values to_8_bits(Values values) {
  for (int& value : values) value = static_cast<int>((std::int64_t{value} * 255 + 32767) / 65535);
  return values;
}

// ---- libpng -----------------------------------------------------------------------------------------

struct PngKind {
  bool interlaced = false;
  std::optional<png_color_16> transparent{};
  int filters = PNG_ALL_FILTERS;
};

void append_png(png_structp png, png_bytep data, png_size_t count) {
  auto* file = static_cast<Bytes*>(png_get_io_ptr(png));
  const auto* first = reinterpret_cast<const std::byte*>(data);
  file->insert(file->end(), first, first + count);
}

// Encodes 16 bits with libpng.
Bytes make_png(const Image& image, const PngKind& kind) {
  const Shape& shape = image.shape();
  Bytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, append_png, nullptr);
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_IHDR(png, info, static_cast<png_uint_32>(shape.width), static_cast<png_uint_32>(shape.height), 16,
               kTypes[shape.channels - 1], kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, kind.filters);
  if (kind.transparent) png_set_tRNS(png, info, nullptr, 0, &*kind.transparent);
  png_write_info(png, info);
  png_set_swap(png);
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::int64_t y = 0; y < shape.height; ++y)
      png_write_row(png, reinterpret_cast<png_const_bytep>(image.untyped_view().row(y)));
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

// Fills `image`, of 16 bits, with libpng's result; false after an error or for another form of image.
bool decode_by_libpng(const Bytes& bytes, const HostView& image) {
  PngSource source{&bytes};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, give_up_png, give_up_png);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &source, read_png_bytes);
  png_read_info(png, info);
  png_set_expand(png);
  png_set_swap(png);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_image_width(png, info) != static_cast<png_uint_32>(image.width) ||
      png_get_image_height(png, info) != static_cast<png_uint_32>(image.height) ||
      png_get_channels(png, info) != image.channels || png_get_bit_depth(png, info) != 16)
    png_error(png, "another shape");
  for (int pass = 0; pass < passes; ++pass) {
    for (std::int64_t y = 0; y < image.height; ++y)
      png_read_row(png, reinterpret_cast<png_bytep>(image.row(y)), nullptr);
  }
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

// ---- reading PNG ------------------------------------------------------------------------------------

// Expects the samples of `expected` from strict and lenient reads, of the whole image and in bands; with
// max_bits 8, expects their reduction.
void expect_reads(const Bytes& file, const Image& expected, const std::string& what) {
  const Values values = samples(expected);
  for (const bool forgiving : {false, true}) {
    const auto reader = open_reader(file, sixteen_bits(forgiving));
    ASSERT_EQ(reader->header().shape, expected.shape()) << what;
    EXPECT_EQ(reader->header().bits_per_sample, 16) << what;
    ASSERT_TRUE(samples(decode(file, sixteen_bits(forgiving))) == values) << what;
    ASSERT_TRUE(samples(decode_in_bands(file, 3, sixteen_bits(forgiving))) == values) << what;
  }
  const Image cut_down = decode(file);
  EXPECT_EQ(cut_down.shape().sample, Sample::u8) << what;
  ASSERT_TRUE(samples(cut_down) == to_8_bits(values)) << what;
}

TEST(SixteenBits, PngOfEveryKindEqualsLibpng) {
  for (const Size& size : few_sizes()) {
    for (int channels = 1; channels <= 4; ++channels) {
      const Image image = picture16({size.width, size.height, channels}, 11);
      for (const bool interlaced : {false, true}) {
        const Bytes file = make_png(image, {.interlaced = interlaced});
        Image by_libpng(image.shape());
        ASSERT_TRUE(decode_by_libpng(file, by_libpng.untyped_view()));
        ASSERT_TRUE(samples(by_libpng) == samples(image));
        expect_reads(file, image,
                     std::to_string(size.width) + "x" + std::to_string(size.height) + "x" +
                         std::to_string(channels) + (interlaced ? " interlaced" : ""));
      }
    }
  }
}

TEST(SixteenBits, PngFiltersRoundTrip) {
  for (const int filter :
       {PNG_FILTER_NONE, PNG_FILTER_SUB, PNG_FILTER_UP, PNG_FILTER_AVG, PNG_FILTER_PAETH}) {
    for (int channels = 1; channels <= 4; ++channels) {
      const Image image = picture16({37, 23, channels}, 5);
      expect_reads(make_png(image, {.filters = filter}), image, "filter " + std::to_string(filter));
    }
  }
}

// A transparent colour is compared in all 16 bits: a colour with only the same high bytes stays opaque.
TEST(SixteenBits, PngTransparentColours) {
  for (const int channels : {1, 3}) {
    Image image = picture16({19, 7, channels}, 3);
    auto* pixels = view16(image).data;
    for (int c = 0; c < channels; ++c) {
      pixels[c] = static_cast<std::uint16_t>(0x1234 + 0x1111 * c);
      pixels[channels + c] = static_cast<std::uint16_t>(pixels[c] ^ 1);
    }
    const png_color_16 color{0, pixels[0], channels == 3 ? pixels[1] : png_uint_16{0},
                             channels == 3 ? pixels[2] : png_uint_16{0}, pixels[0]};
    for (const bool interlaced : {false, true}) {
      const Bytes file = make_png(image, {.interlaced = interlaced, .transparent = color});
      Image expected(deep({19, 7, channels + 1}));
      ASSERT_TRUE(decode_by_libpng(file, expected.untyped_view()));
      EXPECT_EQ(view16(expected).data[channels], 0);
      EXPECT_EQ(view16(expected).data[2 * channels + 1], 65535);
      expect_reads(file, expected, "tRNS");
    }
  }
}

// Missing samples are half of 65,536, and opaque.
TEST(SixteenBits, MissingSamplesAreMidGrey) {
  const Image image = picture16({40, 60, 2}, 9);
  const Values whole = samples(image);
  for (const bool interlaced : {false, true}) {
    const Bytes file = make_png(image, {.interlaced = interlaced});
    const Bytes half = cut(file, file.size() / 2);
    EXPECT_NE(failure(half, sixteen_bits()), "");
    const Values left = samples(decode(half, sixteen_bits(true)));
    EXPECT_EQ(left[left.size() - 2], 32768);
    EXPECT_EQ(left[left.size() - 1], 65535);
    EXPECT_EQ(left[0], whole[0]);
  }
  const Values from_text = samples(decode(bytes_of("P2 3 1 1000 7 1001 x"), sixteen_bits(true)));
  EXPECT_EQ(from_text, (Values{(7 * 65535 + 500) / 1000, 32768, 32768}));
}

// Our own reader accepts and refuses the same damaged files as libpng, and no changed byte crashes either.
TEST(SixteenBits, DamagedFilesAreStable) {
  expect_stable_when_damaged(make_png(picture16({5, 4, 3}, 2), {}));
  expect_stable_when_damaged(make_png(picture16({5, 4, 1}, 2), {.interlaced = true}));
  expect_stable_when_damaged(bytes_of("P5 3 2 40000\nABCDEFGHIJKL"));
}

// The stored orientation moves whole samples, so the high bytes and the low bytes move alike.
TEST(SixteenBits, Orientation) {
  const Image image = picture16({21, 13, 3}, 4);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const auto turned = [&](Bytes file) {
      Bytes exif = turned_exif();
      exif[19] = static_cast<std::byte>(orientation);
      const Bytes chunk = bytes_of("eXIf") + exif;
      const Bytes whole = number(static_cast<std::uint32_t>(exif.size())) + chunk + number(crc32_of(chunk));
      file.insert(file.begin() + 33, whole.begin(), whole.end());
      return file;
    };
    Image high({21, 13, 3}), low({21, 13, 3});
    for (std::int64_t i = 0; i < image.shape().samples(); ++i) {
      const int value = samples(image)[static_cast<std::size_t>(i)];
      high.view().data[i] = static_cast<Sample8>(value >> 8);
      low.view().data[i] = static_cast<Sample8>(value);
    }
    const auto part = [&](const Image& picture) {
      const auto writer = make_writer(Format::png, picture.shape());
      writer->write_rows(picture.untyped_view());
      return samples(decode(turned(writer->finish().joined())));
    };
    const Bytes file = turned(make_png(image, {}));
    ASSERT_EQ(static_cast<int>(open_reader(file)->header().orientation), orientation);
    const Values whole = samples(decode(file, sixteen_bits()));
    const Values bands = samples(decode_in_bands(file, 4, sixteen_bits()));
    const Values highs = part(high), lows = part(low);
    for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_EQ(whole[i], highs[i] * 256 + lows[i]) << i;
    ASSERT_TRUE(bands == whole) << orientation;
  }
}

// ---- writing ----------------------------------------------------------------------------------------

Bytes written(Format format, const Image& image, const EncodeOptions& options = {}, std::int64_t band = 0) {
  const auto writer = make_writer(format, image.shape(), options);
  EXPECT_EQ(writer->device_form().kind, DeviceForm::Kind::none);
  const ConstHostView rows = image.untyped_view();
  const std::int64_t height = band == 0 ? rows.height : band;
  for (std::int64_t y = 0; y < rows.height; y += height)
    writer->write_rows(rows.rows(y, std::min(height, rows.height - y)));
  return writer->finish().joined();
}

TEST(SixteenBits, WrittenPngIsReadByLibpng) {
  for (const Size& size : few_sizes()) {
    for (int channels = 1; channels <= 4; ++channels) {
      const Image image = picture16({size.width, size.height, channels}, 21);
      for (const int level : {0, 1, 2, 6}) {
        const Bytes file = written(Format::png, image, {.png_level = level, .mark = Mark::result}, 5);
        Image got(image.shape());
        ASSERT_TRUE(decode_by_libpng(file, got.untyped_view())) << size.width << "x" << size.height;
        ASSERT_TRUE(samples(got) == samples(image));
        ASSERT_TRUE(samples(decode(file, sixteen_bits())) == samples(image));
      }
    }
  }
}

// Several strips in any order give the same file as rows, and libpng's pixels are the same.
TEST(SixteenBits, PngStrips) {
  const Image image = picture16({1001, 403, 3}, 6);
  const auto writer = make_writer(Format::png, image.shape());
  const std::int64_t strip = writer->strip_rows();
  ASSERT_LT(strip, 403 / 2);
  for (std::int64_t first = 402 / strip * strip; first >= 0; first -= strip)
    writer->write_strip(first, image.untyped_view().rows(first, std::min(strip, 403 - first)));
  const Bytes file = writer->finish().joined();
  EXPECT_TRUE(file == written(Format::png, image, {}, 17));
  Image got(image.shape());
  ASSERT_TRUE(decode_by_libpng(file, got.untyped_view()));
  EXPECT_TRUE(samples(got) == samples(image));
  EXPECT_THROW(make_writer(Format::png, image.shape())->give_strip(0, {.bytes = file}), Error);
  Image flat({1001, 403, 3});
  EXPECT_THROW(make_writer(Format::png, image.shape())->write_rows(flat.view()), Error);
  EXPECT_THROW(make_writer(Format::png, flat.shape())->write_rows(image.untyped_view()), Error);
}

TEST(SixteenBits, WrittenNetpbmIsRead) {
  for (const Size& size : few_sizes()) {
    for (const auto& [format, channels] :
         {std::pair{Format::pgm, 1}, {Format::ppm, 3}, {Format::pnm, 1}, {Format::pnm, 3}}) {
      const Image image = picture16({size.width, size.height, channels}, 2);
      const Bytes file = written(format, image, {.mark = Mark::result}, 3);
      Bytes expected = bytes_of((channels == 1 ? "P5\n# imgpipe\n" : "P6\n# imgpipe\n") +
                                std::to_string(size.width) + " " + std::to_string(size.height) + "\n65535\n");
      for (const int value : samples(image)) put(expected, value, 2);
      ASSERT_TRUE(file == expected);
      ASSERT_TRUE(samples(decode(file, sixteen_bits())) == samples(image));
    }
  }
  Image flat({3, 2, 1});
  EXPECT_THROW(make_writer(Format::pgm, deep(flat.shape()))->write_rows(flat.view()), Error);
}

// Grey becomes colour, and alpha is dropped, if the format requires it. Our own writer replaces stb's.
TEST(SixteenBits, ConvertedIfTheFormatHoldsLess) {
  for (int channels : {1, 2, 4}) {
    const Image image = picture16({33, 20, channels}, 7);
    const Values in = samples(image);
    Values expected;
    for (std::size_t i = 0; i < in.size(); i += static_cast<std::size_t>(channels)) {
      for (std::size_t c = 0; c < 3; ++c) expected.push_back(in[i + (channels == 4 ? c : 0)]);
    }
    for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
      const Bytes file = written(Format::ppm, image, {.codec = codec}, 7);
      ASSERT_TRUE(samples(decode(file, sixteen_bits())) == expected) << channels;
    }
  }
  const Image image = picture16({33, 20, 1}, 7);
  EXPECT_TRUE(samples(decode(written(Format::png, image, {.codec = CodecChoice::stb}), sixteen_bits())) ==
              samples(image));
}

TEST(SixteenBits, SupportedFormats) {
  for (const FormatInfo& info : format_table()) {
    if (!info.writable) continue;
    const Shape shape = deep({3, 3, info.holds_color ? 3 : 1});
    if (info.written_bits == 0) {
      EXPECT_THROW((void)storable_shape(info.format, shape), Error) << info.name;
    } else if (info.written_bits == 16) {
      EXPECT_EQ(storable_shape(info.format, shape).sample, Sample::u16) << info.name;
    } else {
      EXPECT_EQ(info.written_bits, 8) << info.name;
      EXPECT_THROW((void)storable_shape(info.format, shape), Error) << info.name;
    }
  }
  for (const Format format : {Format::png, Format::pgm, Format::ppm, Format::pnm})
    EXPECT_EQ(format_info(format).written_bits, 16);
  for (const Format format : {Format::jpeg, Format::bmp, Format::tga})
    EXPECT_EQ(format_info(format).written_bits, 8);
}

// stb_image always returns 8 bits.
TEST(SixteenBits, StbReturnsEightBits) {
  DecodeOptions options = with_stb();
  options.max_bits = 16;
  const Bytes file = make_png(picture16({9, 4, 3}, 1), {});
  EXPECT_EQ(decode(file, options).shape().sample, Sample::u8);
}

// ---- real files -------------------------------------------------------------------------------------

TEST(SixteenBitCorpus, PngSuiteEqualsLibpng) {
  IMGPIPE_NEED_CORPUS();
  int compared = 0;
  for (const auto& path : files_below(*corpus() / "pngsuite/valid")) {
    const Bytes file = load(path);
    DecodeOptions options = sixteen_bits();
    const auto reader = open_reader(file, options);
    EXPECT_EQ(reader->header().shape.sample == Sample::u16, reader->header().bits_per_sample == 16);
    if (reader->header().bits_per_sample != 16) continue;
    options.orient = false;
    const Image image = decode(file, options);
    Image by_libpng(image.shape());
    ASSERT_TRUE(decode_by_libpng(file, by_libpng.untyped_view())) << path;
    EXPECT_TRUE(samples(image) == samples(by_libpng)) << path;
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

}  // namespace
}  // namespace imgpipe::test::sixteen_bit_codec_test

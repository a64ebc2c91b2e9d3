// DecodeOptions::scale: the pixels are those of the installed libjpeg-turbo with scale_denom, called
// directly.
#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>

#include "images/codecs/codec.h"
#include "images/codecs/exif.h"
#include "images/synth.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/jpeg_pair.h"
#include "tests/support/made_jpegs.h"

namespace imgpipe::test::jpeg_scale_test {
namespace {

using File = std::vector<std::byte>;

constexpr std::array kScales{1, 2, 4, 8};

// Decodes a valid file. CMYK stays CMYK.
Image decode_with_libjpeg(const File& file, int scale) {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  decoder.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&decoder, TRUE);
  decoder.scale_num = 1;
  decoder.scale_denom = static_cast<unsigned>(scale);
  jpeg_start_decompress(&decoder);
  Image image({decoder.output_width, decoder.output_height, decoder.output_components});
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW row = image.view().row(decoder.output_scanline);
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
  return image;
}

DecodeOptions scaled_by(int scale) {
  DecodeOptions options;
  options.scale = scale;
  return options;
}

// Whether the parallel decoder must make it.
bool is_parallel(const MadeJpeg& jpeg, int scale) {
  const bool repeats = jpeg.stored == JCS_YCbCr && scale == 8 &&
                       (jpeg.factors[0] == JpegFactors{2, 1} || jpeg.factors[0] == JpegFactors{1, 2});
  return jpeg.is_plain() && !repeats;
}

std::vector<Reading> readings(std::uint64_t seed) {
  const auto odd = static_cast<std::int64_t>(1 + seed % 11);
  return {{.rows = odd, .scan_chunk_bytes = 1 + seed % 300},
          {.rows = odd, .threads = 1, .common = 2, .backwards = true},
          {.rows = 3, .threads = 3, .common = 1, .scan_chunk_bytes = 16}};
}

void expect_scaled(const MadeJpeg& jpeg) {
  const File file = make_jpeg(jpeg);
  const std::string what = description(jpeg);
  for (const int scale : kScales) {
    const Image expected = decode_with_libjpeg(file, scale);
    const JpegOutcome got = read_jpeg(file, scaled_by(scale));
    ASSERT_EQ(got.reason, "") << what;
    ASSERT_EQ(got.header.scale, scale) << what;
    ASSERT_EQ(got.header.shape.width, expected.shape().width) << what;
    ASSERT_EQ(got.header.shape.height, expected.shape().height) << what;
    const Shape whole = unscaled_shape(got.header);
    ASSERT_EQ(got.header.shape.width, (whole.width + scale - 1) / scale) << what;
    ASSERT_EQ(got.header.shape.height, (whole.height + scale - 1) / scale) << what;
    ASSERT_EQ(got.decoder, is_parallel(jpeg, scale) ? "parallel" : "") << what << " 1/" << scale;
    ASSERT_EQ(got.last_decoder, got.decoder) << what << " 1/" << scale;
    for (const Reading& reading : readings(jpeg.seed)) {
      const JpegOutcome again = read_jpeg(file, scaled_by(scale), reading);
      ASSERT_EQ(difference(got, again), "") << what << " 1/" << scale << " " << text_of(reading);
    }
    if (expected.shape().channels == 4) continue;  // CMYK, which the reader converts
    ASSERT_EQ(first_difference(expected.view(), got.image.view()), "") << what << ", 1/" << scale;
  }
}

TEST(JpegScale, EverySizeAndSampling) {
  constexpr std::array<std::pair<int, int>, 6> kSamplings{{{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}}};
  for (const auto& [across, down] : kSamplings) {
    for (std::int64_t side = 1; side <= 40; ++side) {
      const MadeJpeg jpeg{.width = side,
                          .height = 1 + (side * 7 + across) % 40,
                          .factors = {{{across, down}}},
                          .restart_mcus = static_cast<int>(side % 3),
                          .content = side % 2 == 0 ? JpegContent::photo : JpegContent::noise};
      ASSERT_NO_FATAL_FAILURE(expect_scaled(jpeg));
    }
  }
}

// Of every colour space, sampling, coding and quantiser; with coefficients out of range.
TEST(JpegScale, GeneratedFiles) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const MadeJpeg jpeg = random_jpeg(seed);
    ASSERT_NO_FATAL_FAILURE(expect_scaled(jpeg));
  }
}

// Scaling does not change which files are valid, nor the message.
TEST(JpegScale, DamagedFiles) {
  std::mt19937 random(5);
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    File file = make_jpeg(random_jpeg(seed));
    if (seed % 3 == 0)
      file.resize(file.size() * (1 + seed % 7) / 8);
    else
      file[file.size() / 2 + random() % (file.size() / 2)] ^= static_cast<std::byte>(1 + random() % 255);
    for (const Acceptance accept : kEveryAcceptance) {
      DecodeOptions options;
      options.accept = accept;
      const JpegOutcome whole = read_jpeg(file, options);
      for (const int scale : kScales) {
        options.scale = scale;
        const JpegOutcome got = read_jpeg(file, options);
        ASSERT_EQ(got.reason, whole.reason) << seed << " 1/" << scale << " " << text_of(accept);
        ASSERT_EQ(got.warnings, whole.warnings) << seed << " 1/" << scale << " " << text_of(accept);
        DecodeOptions by_library = options;
        by_library.codec = CodecChoice::turbo;
        ASSERT_EQ(difference(read_jpeg(file, by_library), got), "")
            << seed << " 1/" << scale << " " << text_of(accept);
      }
      refused += whole.reason.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 100);
}

// The orientation is applied to the scaled pixels, also in bands; the header has both upright sizes.
TEST(JpegScale, Orientation) {
  const Image pixels = synthesize(parse_pattern("photo"), {53, 38, 3}, 3);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const File file = make_jpeg({.h = 2, .v = 2, .orientation = orientation}, pixels.view());
    const Image stored = decode_with_libjpeg(file, 4);
    Image expected(oriented_shape(stored.shape(), static_cast<Orientation>(orientation)));
    orient_pixels(stored.untyped_view(), expected.untyped_view(), static_cast<Orientation>(orientation));
    const DecodeOptions options = scaled_by(4);
    EXPECT_EQ(first_difference(expected.view(), decode(file, options).view()), "") << orientation;
    const ImageHeader header = open_reader(file, options)->header();
    EXPECT_EQ(header.shape, expected.shape());
    EXPECT_EQ(header.stored_width, orientation <= 4 ? 53 : 38);
    EXPECT_EQ(header.stored_height, orientation <= 4 ? 38 : 53);
  }
}

TEST(JpegScale, AutoTakesTheGreatestScale) {
  const File file = make_jpeg(MadeJpeg{.width = 61, .height = 35, .factors = {{{2, 2}}}});
  for (std::int64_t width = 1; width <= 62; ++width) {
    for (const std::int64_t height : {1, 4, 5, 6, 9, 10, 17, 18, 19, 35, 36}) {
      DecodeOptions options = scaled_by(kAutoScale);
      options.least_size = [&](const Shape& whole) {
        EXPECT_EQ(whole, (Shape{61, 35, 3}));
        return Shape{width, height, 3};
      };
      int expected = 1;
      for (const int scale : kScales)
        if ((61 + scale - 1) / scale >= width && (35 + scale - 1) / scale >= height) expected = scale;
      EXPECT_EQ(open_reader(file, options)->header().scale, expected) << width << "x" << height;
    }
  }
  DecodeOptions options = scaled_by(kAutoScale);
  EXPECT_EQ(open_reader(file, options)->header().scale, 1);
  options.least_size = [](const Shape&) { return std::nullopt; };
  EXPECT_EQ(open_reader(file, options)->header().scale, 1);
}

// auto compares upright sizes.
TEST(JpegScale, AutoOfARotatedImage) {
  const Image pixels = synthesize(parse_pattern("photo"), {80, 40, 3}, 3);
  const File file = make_jpeg({.orientation = 6}, pixels.view());
  DecodeOptions options = scaled_by(kAutoScale);
  options.least_size = [](const Shape& whole) { return Shape{10, whole.height / 4, 3}; };
  EXPECT_EQ(open_reader(file, options)->header().scale, 4);  // 80 / 4, not 40 / 4
  options.orient = false;
  EXPECT_EQ(open_reader(file, options)->header().scale, 4);
  options.least_size = [](const Shape& whole) {
    return whole.width == 80 ? Shape{80, 1, 3} : Shape{1, 1, 3};
  };
  EXPECT_EQ(open_reader(file, options)->header().scale, 1);
  options.orient = true;
  EXPECT_EQ(open_reader(file, options)->header().scale, 8);
}

// The limit on pixels and the memory for coefficients are those of the file, the rows those of the scaled
// image.
TEST(JpegScale, Limits) {
  const MadeJpeg jpeg{.width = 640, .height = 480, .factors = {{{2, 2}}}};
  const File file = make_jpeg(jpeg);
  DecodeOptions options = scaled_by(8);
  options.max_pixels = 640 * 480 - 1;
  EXPECT_NE(failure(file, options).find("--max-pixels"), std::string::npos);
  std::int64_t before = open_reader(file, {.codec = CodecChoice::turbo})->working_bytes(true);
  for (const int scale : {2, 4, 8}) {
    DecodeOptions by_library = scaled_by(scale);
    by_library.codec = CodecChoice::turbo;
    const std::int64_t bytes = open_reader(file, by_library)->working_bytes(true);
    EXPECT_LT(bytes, before) << scale;
    before = bytes;
  }
}

TEST(JpegScale, OtherFormatsAcceptOnlyAuto) {
  const std::unique_ptr<Writer> writer = make_writer(Format::png, {4, 4, 1});
  writer->write_rows(std::as_const(*std::make_unique<Image>(Shape{4, 4, 1})).untyped_view());
  const File png = writer->finish().joined();
  EXPECT_EQ(failure(png, scaled_by(2)), "--decode-scale 2: needs a JPEG, got a png file; use auto");
  EXPECT_EQ(failure(png, scaled_by(kAutoScale)), "");
}

}  // namespace
}  // namespace imgpipe::test::jpeg_scale_test

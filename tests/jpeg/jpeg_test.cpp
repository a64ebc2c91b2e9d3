// JPEGs of every kind, made by libjpeg itself: colour spaces, subsampling, progressive, restarts.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>
#include <jpeglib.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "tests/support/jpeg_file.h"

namespace imgpipe::test::jpeg_test {
namespace {

using Bytes = std::vector<std::byte>;

// `pixels` has as many samples per pixel as the kind requires.
Bytes jpeg_of(JpegKind kind, const std::vector<Sample8>& pixels, std::int64_t width, std::int64_t height) {
  kind.quality = 100;
  const int channels = channels_of(kind);
  return make_jpeg(kind, {pixels.data(), width, height, width * channels, channels});
}

Image decode(const Bytes& bytes) {
  const auto reader = open_reader(bytes);
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  return image;
}

std::vector<Sample8> samples_of(const Image& image) {
  const Sample8* data = image.view().data;
  return {data, data + image.shape().samples()};
}

double mean_difference(const std::vector<Sample8>& a, const std::vector<Sample8>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

TEST(Jpeg, EverySubsamplingBaselineAndProgressive) {
  for (const auto& [width, height] :
       {std::pair{67U, 45U}, std::pair{1U, 1U}, std::pair{16U, 1U}, std::pair{3U, 33U}}) {
    const std::vector<Sample8> rgb = samples_of(synthesize(parse_pattern("photo"), {width, height, 3}, 3));
    for (const auto& [h, v] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{2, 2}, std::pair{1, 2},
                               std::pair{4, 1}, std::pair{4, 2}}) {
      for (const bool progressive : {false, true}) {
        JpegKind kind;
        kind.h = h;
        kind.v = v;
        kind.progressive = progressive;
        kind.restart_rows = v;
        const Bytes bytes = jpeg_of(kind, rgb, width, height);
        const auto reader = open_reader(bytes);
        EXPECT_EQ(reader->header().shape, (Shape{width, height, 3}));
        EXPECT_EQ(reader->header().progressive, progressive);
        EXPECT_LT(mean_difference(samples_of(decode(bytes)), rgb), h * v > 2 ? 6.0 : 4.0)
            << h << "x" << v << (progressive ? " progressive" : "");
      }
    }
  }
}

TEST(Jpeg, GreyAndRgbAreStoredUnchanged) {
  const std::vector<Sample8> grey = samples_of(synthesize(parse_pattern("photo"), {40, 30, 1}, 3));
  const Image decoded = decode(jpeg_of({JCS_GRAYSCALE, JCS_GRAYSCALE}, grey, 40, 30));
  EXPECT_EQ(decoded.shape().channels, 1);
  EXPECT_LT(mean_difference(samples_of(decoded), grey), 1.0);
  const std::vector<Sample8> rgb = samples_of(synthesize(parse_pattern("photo"), {40, 30, 3}, 3));
  EXPECT_LT(mean_difference(samples_of(decode(jpeg_of({JCS_RGB, JCS_RGB}, rgb, 40, 30))), rgb), 1.0);
}

// Known inks: with Adobe's marker, 255 means none; without it, 255 means full.
TEST(Jpeg, CmykAndYcckBecomeRgb) {
  struct Ink {
    Sample8 c, m, y, k;
  };
  for (const Ink& stored : {Ink{255, 255, 255, 255}, Ink{0, 0, 0, 0}, Ink{0, 255, 255, 255},
                            Ink{200, 100, 50, 220}, Ink{255, 255, 255, 128}}) {
    std::vector<Sample8> pixels;
    for (int i = 0; i < 16 * 16; ++i) pixels.insert(pixels.end(), {stored.c, stored.m, stored.y, stored.k});
    for (const bool adobe : {true, false}) {
      for (const J_COLOR_SPACE space : {JCS_CMYK, JCS_YCCK}) {
        if (!adobe && space == JCS_YCCK) continue;  // only the marker distinguishes YCCK from CMYK
        JpegKind kind;
        kind.in = JCS_CMYK;
        kind.stored = space;
        kind.adobe = adobe;
        const Image image = decode(jpeg_of(kind, pixels, 16, 16));
        ASSERT_EQ(image.shape().channels, 3);
        const auto light = [&](Sample8 ink) { return adobe ? ink : 255 - ink; };
        const int expected[3] = {light(stored.c) * light(stored.k) / 255,
                                 light(stored.m) * light(stored.k) / 255,
                                 light(stored.y) * light(stored.k) / 255};
        for (int c = 0; c < 3; ++c)
          EXPECT_NEAR(image.view().row(8)[8 * 3 + c], expected[c], 3) << adobe << " " << c;
      }
    }
  }
}

TEST(Jpeg, ScansBeyondTheLimitAreRejected) {
  // 600 scans that repeat the same coefficient, which no encoder writes.
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_width = encoder.image_height = 8;
  encoder.in_color_space = JCS_GRAYSCALE;
  encoder.input_components = 1;
  jpeg_set_defaults(&encoder);
  std::vector<jpeg_scan_info> scans{{1, {0, 0, 0, 0}, 0, 0, 0, 0}};
  for (int k = 1; k < 64; ++k) scans.push_back({1, {0, 0, 0, 0}, k, k, 0, 10});
  for (int bit = 10; bit > 0; --bit) {
    for (int k = 1; k < 64; ++k) scans.push_back({1, {0, 0, 0, 0}, k, k, bit, bit - 1});
  }
  ASSERT_GT(scans.size(), 500U);
  encoder.scan_info = scans.data();
  encoder.num_scans = static_cast<int>(scans.size());
  jpeg_start_compress(&encoder, TRUE);
  std::vector<Sample8> row(8, 100);
  Sample8* rows = row.data();
  while (encoder.next_scanline < 8) jpeg_write_scanlines(&encoder, &rows, 1);
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  const auto written = std::as_bytes(std::span(memory, size));
  const Bytes bytes(written.begin(), written.end());
  std::free(memory);
  try {
    (void)decode(bytes);
    ADD_FAILURE() << "decoded";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("500 progressive scans"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace imgpipe::test::jpeg_test

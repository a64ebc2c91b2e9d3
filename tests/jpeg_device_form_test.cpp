// JPEGs of which a device makes the scan: what the writer takes, and that the scan's arithmetic gives the
// bytes that libjpeg-turbo writes.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/jpeg/forward_scan.h"
#include "images/codecs/jpeg/scan_reference.h"
#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "tests/support/images.h"

namespace imgpipe::test {
namespace {

using File = std::vector<std::byte>;

constexpr std::int64_t kMostJpegSide = 65500;

Image make_image(Shape shape, const std::string& content) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      for (int c = 0; c < shape.channels; ++c)
        image.view().row(y)[x * shape.channels + c] = content_sample(content, x, y, c, 7);
    }
  }
  return image;
}

EncodeOptions with_quality(int quality, Mark mark = Mark::none) {
  EncodeOptions options;
  options.quality = quality;
  options.mark = mark;
  return options;
}

File by_rows(const Image& image, const EncodeOptions& options) {
  const std::unique_ptr<Writer> writer = make_writer(Format::jpeg, image.shape(), options);
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

File by_scan(const Image& image, const EncodeOptions& options) {
  const std::unique_ptr<Writer> writer = make_writer(Format::jpeg, image.shape(), options);
  const DeviceForm form = writer->device_form();
  EXPECT_EQ(form.kind, DeviceForm::Kind::jpeg_scan);
  EXPECT_EQ(form.quality, options.quality);
  writer->give_scan(encode_scan_reference(image.view(), form.quality, form.halved_colors));
  return writer->finish().joined();
}

void expect_equal(Shape shape, const std::string& content, int quality) {
  SCOPED_TRACE(content + " " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
               std::to_string(shape.channels) + " quality " + std::to_string(quality));
  const Image image = make_image(shape, content);
  const EncodeOptions options = with_quality(quality);
  EXPECT_TRUE(by_rows(image, options) == by_scan(image, options));
}

TEST(JpegDeviceForm, EqualForEveryQuality) {
  for (int quality = 1; quality <= 100; ++quality) {
    for (const int channels : {1, 3}) {
      for (const char* content : {"noise", "two_valued", "checker", "ramp", "constant"})
        expect_equal({83, 45, channels}, content, quality);
    }
  }
}

TEST(JpegDeviceForm, EqualForEveryShape) {
  for (const int channels : {1, 3}) {
    for (const int quality : {60, 90, 91, 100}) {
      for (std::int64_t height = 1; height <= 34; ++height) {
        for (std::int64_t width = 1; width <= 34; ++width)
          expect_equal({width, height, channels}, "noise", quality);
      }
      for (const Size& size : awkward_sizes()) {
        if (size.width <= kMostJpegSide && size.height <= kMostJpegSide)
          expect_equal({size.width, size.height, channels}, "two_valued", quality);
      }
    }
  }
}

TEST(JpegDeviceForm, EqualForLongSides) {
  for (const int quality : {90, 95}) {
    expect_equal({kMostJpegSide, 1, 3}, "noise", quality);
    expect_equal({1, kMostJpegSide, 3}, "noise", quality);
    expect_equal({kMostJpegSide, 3, 1}, "ramp", quality);
    expect_equal({2, kMostJpegSide, 1}, "noise", quality);
  }
}

TEST(JpegDeviceForm, EqualForEveryContent) {
  for (const int channels : {1, 3}) {
    for (const std::string& content : contents()) {
      for (const int quality : {1, 25, 50, 75, 90, 95, 100})
        expect_equal({130, 67, channels}, content, quality);
    }
  }
}

TEST(JpegDeviceForm, KeepsTheMark) {
  for (const int channels : {1, 3}) {
    const Image image = make_image({40, 30, channels}, "noise");
    const EncodeOptions options = with_quality(90, Mark::result);
    EXPECT_TRUE(by_rows(image, options) == by_scan(image, options));
  }
}

TEST(JpegDeviceForm, HalvesTheColorsAsTheWriterDoes) {
  const auto form = [](int channels, int quality) {
    return make_writer(Format::jpeg, {20, 10, channels}, with_quality(quality))->device_form();
  };
  EXPECT_TRUE(form(3, 90).halved_colors);
  EXPECT_FALSE(form(3, 91).halved_colors);
  EXPECT_FALSE(form(1, 90).halved_colors);
  EXPECT_EQ(form(1, 3).quality, 3);
}

// What is converted on its way to the writer is not on the device.
TEST(JpegDeviceForm, NoneForWhatIsConverted) {
  for (const int channels : {2, 4}) {
    const auto writer = make_writer(Format::jpeg, {20, 10, channels}, with_quality(90));
    EXPECT_EQ(writer->device_form().kind, DeviceForm::Kind::none);
    EXPECT_THROW(writer->give_scan({}), Error);
  }
}

TEST(JpegDeviceForm, NoneByOtherMeans) {
  EncodeOptions stb;
  stb.codec = CodecChoice::stb;
  EXPECT_EQ(make_writer(Format::jpeg, {20, 10, 3}, stb)->device_form().kind, DeviceForm::Kind::none);
  EXPECT_EQ(make_writer(Format::bmp, {20, 10, 3})->device_form().kind, DeviceForm::Kind::none);
}

TEST(JpegDeviceForm, EitherRowsOrAScan) {
  const Image image = make_image({20, 10, 1}, "noise");
  const auto scan = encode_scan_reference(image.view(), 90, false);
  const auto given = make_writer(Format::jpeg, image.shape(), with_quality(90));
  given->give_scan(scan);
  EXPECT_THROW(given->write_rows(image.untyped_view()), Error);
  EXPECT_THROW(given->give_scan(scan), Error);
  EXPECT_TRUE(given->take_finished().parts.empty());
  EXPECT_TRUE(given->finish().joined() == by_rows(image, with_quality(90)));
  const auto written = make_writer(Format::jpeg, image.shape(), with_quality(90));
  written->write_rows(image.untyped_view());
  EXPECT_THROW(written->give_scan(scan), Error);
  EXPECT_TRUE(written->finish().joined() == by_rows(image, with_quality(90)));
}

// The multiplication in place of the division, for all that it can be given.
TEST(JpegDeviceForm, QuantizesAsADivisionDoes) {
  for (int step = 1; step <= 255; ++step) {
    const QuantizerStep by = quantizer_step(step);
    for (std::int32_t x = 0; x <= 16384; ++x) {
      const auto expected = static_cast<std::uint32_t>((x + 4 * step) / (8 * step));
      ASSERT_EQ(quantized_magnitude(x, by), expected) << x << " by " << step;
      ASSERT_EQ(quantized_magnitude(-x, by), expected) << -x << " by " << step;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test

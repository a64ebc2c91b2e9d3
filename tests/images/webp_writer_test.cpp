// Writing WebP: lossless to the byte, libwebp's own bytes if lossy, the mark and the limits.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/mark.h"
#include "images/error.h"
#include "images/synth.h"
#include "tests/support/decoding.h"
#include "tests/support/images.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::webp_writer_test {
namespace {

Bytes write(const Image& image, const EncodeOptions& options = {}, std::int64_t band = 1 << 20) {
  const auto writer = make_writer(Format::webp, image.shape(), options);
  const std::int64_t height = image.shape().height;
  for (std::int64_t y = 0; y < height; y += band)
    writer->write_rows(image.view().rows(y, std::min(band, height - y)));
  return writer->finish().joined();
}

Image noise(std::int64_t width, std::int64_t height, int channels) {
  Image image({width, height, channels});
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t i = 0; i < width * channels; ++i)
      image.view().row(y)[i] = content_sample("noise", i, y, 0, 3);
  }
  return image;
}

EncodeOptions lossy(int quality, int level = 1) {
  return {.quality = quality, .webp = WebpCoding::lossy, .webp_level = level};
}

TEST(WebpWriter, LosslessRoundTrips) {
  for (int level = 0; level <= 9; ++level) {
    for (const Size& size : {Size{1, 1}, {1, 7}, {7, 1}, {16, 16}, {61, 43}}) {
      for (const int channels : {3, 4}) {
        Image image = noise(size.width, size.height, channels);
        if (channels == 4) {  // colours of transparent pixels
          for (std::int64_t x = 0; x < size.width; ++x) image.view().row(0)[4 * x + 3] = 0;
        }
        const Image back = decode(write(image, {.webp_level = level}));
        ASSERT_EQ(back.shape(), image.shape());
        EXPECT_EQ(first_difference(image.view(), back.view()), "") << level;
      }
    }
  }
}

TEST(WebpWriter, GreyBecomesColour) {
  for (const int channels : {1, 2}) {
    Image image = noise(9, 5, channels);
    const Shape stored = storable_shape(Format::webp, image.shape());
    EXPECT_EQ(stored.channels, channels + 2);
    const Image back = decode(write(image));
    ASSERT_EQ(back.shape(), stored);
    for (std::int64_t y = 0; y < 5; ++y) {
      for (std::int64_t x = 0; x < 9; ++x) {
        for (int c = 0; c < 3; ++c)
          EXPECT_EQ(back.view().row(y)[x * stored.channels + c], image.view().row(y)[x * channels]);
        if (channels == 2) {
          EXPECT_EQ(back.view().row(y)[4 * x + 3], image.view().row(y)[2 * x + 1]);
        }
      }
    }
  }
}

// Compares with the bytes that libwebp's own functions for RGB and RGBA input write.
TEST(WebpWriter, BytesEqualLibwebps) {
  for (const int channels : {3, 4}) {
    for (const Size& size : {Size{1, 1}, {17, 9}, {90, 61}}) {
      const Image image = noise(size.width, size.height, channels);
      for (int level = 0; level <= 9; ++level) {
        EXPECT_EQ(write(image, {.webp_level = level}), make_webp({true, level}, image.view())) << level;
        const WebpKind kind{false, (2 * level + 1) / 3, 10 * level + 5};
        EXPECT_EQ(write(image, lossy(kind.quality, level)), make_webp(kind, image.view())) << level;
      }
    }
  }
}

TEST(WebpWriter, BandsAndRepetitionsProduceTheSameBytes) {
  const Image image = synthesize(parse_pattern("photo"), {83, 59, 4}, 2);
  for (const EncodeOptions& options : {EncodeOptions{}, lossy(75), lossy(75, 9)}) {
    const Bytes whole = write(image, options);
    for (const std::int64_t band : {1, 7, 16, 59}) EXPECT_EQ(write(image, options, band), whole) << band;
  }
}

TEST(WebpWriter, QualityAndLevelAffectSize) {
  const Image photo = synthesize(parse_pattern("photo"), {200, 150, 3}, 3);
  EXPECT_LT(write(photo, lossy(20)).size(), write(photo, lossy(95)).size());
  EXPECT_LT(write(photo, lossy(95)).size(), write(photo).size());
  EXPECT_LT(write(photo, {.webp_level = 9}).size(), write(photo, {.webp_level = 0}).size());
  EXPECT_EQ(write(photo, {.quality = 3}), write(photo, {.quality = 97})) << "of lossy only";
}

TEST(WebpWriter, MarkChangesNoPixel) {
  for (const int channels : {3, 4}) {
    const Image image = noise(23, 17, channels);
    for (EncodeOptions options : {EncodeOptions{}, lossy(60)}) {
      const Bytes plain = write(image, options);
      EXPECT_EQ(find_mark(plain), Mark::none);
      for (const Mark mark : {Mark::result, Mark::synthetic}) {
        options.mark = mark;
        const Bytes marked = write(image, options);
        EXPECT_EQ(find_mark(marked), mark);
        EXPECT_EQ(find_mark(cut(marked, std::min<std::size_t>(marked.size(), kMarkBytes))), mark);
        const Image expected = library_rgba(plain), got = library_rgba(marked);
        ASSERT_FALSE(got.empty()) << "libwebp takes the file";
        EXPECT_EQ(first_difference(expected.view(), got.view()), "");
        EXPECT_EQ(decode(marked).shape(), image.shape());
        const Bytes chunks = picture_chunks(plain), others = picture_chunks(marked);
        ASSERT_GT(others.size(), chunks.size());
        EXPECT_EQ(Bytes(others.end() - static_cast<std::ptrdiff_t>(chunks.size()), others.end()), chunks);
        for (std::size_t size = 0; size < 40; ++size)
          EXPECT_EQ(find_mark(cut(marked, size)), Mark::none) << size;
      }
    }
  }
}

TEST(WebpWriter, RejectsUnsupportedShapes) {
  EXPECT_NO_THROW((void)make_writer(Format::webp, {16383, 16383, 4}));
  for (const Shape& shape : {Shape{16384, 1, 3}, {1, 16384, 3}}) {
    try {
      (void)make_writer(Format::webp, shape);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_STREQ(error.what(), "webp is limited to 16383 pixels per side");
    }
  }
  const Image image = noise(5, 4, 3);
  const auto early = make_writer(Format::webp, image.shape());
  EXPECT_THROW((void)early->finish(), Error);
  early->write_rows(image.view().rows(0, 3));
  EXPECT_THROW((void)early->finish(), Error);
  EXPECT_THROW(early->write_rows(image.view().rows(0, 2)), Error);
}

// The longest possible row and column.
TEST(WebpWriter, LongestSides) {
  for (const Shape& shape : {Shape{16383, 2, 3}, {2, 16383, 3}}) {
    const Image image = noise(shape.width, shape.height, 3);
    const Image back = decode(write(image));
    EXPECT_EQ(first_difference(image.view(), back.view()), "");
    EXPECT_EQ(decode(write(image, lossy(50))).shape(), shape);
  }
}

}  // namespace
}  // namespace imgpipe::test::webp_writer_test

// JPEGs encoded in strips have the bytes of libjpeg-turbo's encoder for the whole image.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::jpeg_strips_test {
namespace {

using File = std::vector<std::byte>;
using Random = std::mt19937;

Image made(Shape shape, const std::string& content) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < shape.width * shape.channels; ++i)
      image.view().row(y)[i] =
          content_sample(content, i / shape.channels, y, static_cast<int>(i % shape.channels), 7);
  }
  return image;
}

EncodeOptions with(int quality, CodecChoice codec) {
  EncodeOptions options;
  options.quality = quality;
  options.codec = codec;
  options.mark = Mark::synthetic;
  return options;
}

// The library's file, written row by row.
File expected(const Image& image, int quality) {
  const auto writer = make_writer(Format::jpeg, image.shape(), with(quality, CodecChoice::turbo));
  EXPECT_EQ(writer->strip_rows(), 0);
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

void append(File& file, const EncodedFile& more) {
  EXPECT_TRUE(more.patches.empty());
  const File bytes = more.joined();
  file.insert(file.end(), bytes.begin(), bytes.end());
}

// Writes strips in random order, and takes what is finished now and then.
File in_strips(const Image& image, int quality, Random& random) {
  const auto writer = make_writer(Format::jpeg, image.shape(), with(quality, CodecChoice::automatic));
  const std::int64_t rows = writer->strip_rows();
  EXPECT_GT(rows, 0);
  EXPECT_EQ(rows % 16, 0);
  std::vector<std::int64_t> strips(static_cast<std::size_t>((image.shape().height + rows - 1) / rows));
  std::iota(strips.begin(), strips.end(), 0);
  std::ranges::shuffle(strips, random);
  File file;
  for (const std::int64_t strip : strips) {
    const std::int64_t first = strip * rows;
    writer->write_strip(first,
                        image.untyped_view().rows(first, std::min(rows, image.shape().height - first)));
    if (random() % 2 == 0) append(file, writer->take_finished());
  }
  append(file, writer->finish());
  return file;
}

// Writes rows, some at a time.
File in_rows(const Image& image, int quality, Random& random) {
  const auto writer = make_writer(Format::jpeg, image.shape(), with(quality, CodecChoice::automatic));
  for (std::int64_t y = 0; y < image.shape().height;) {
    const std::int64_t rows = std::min<std::int64_t>(1 + random() % 70, image.shape().height - y);
    writer->write_rows(image.untyped_view().rows(y, rows));
    y += rows;
  }
  return writer->finish().joined();
}

TEST(JpegStrips, EqualTheLibrarysFile) {
  Random random(36);
  constexpr int kCases = kSanitized ? 25 : 150;
  for (int i = 0; i < kCases; ++i) {
    const int channels = random() % 3 == 0 ? 1 : 3;
    const std::int64_t width = (random() % 4 == 0 ? 8000 : 3000) + random() % 4000;
    const std::int64_t rows = std::max<std::int64_t>(1, (1 << 19) / (width * channels) / 16) * 16;
    const Shape shape{width, rows + 1 + static_cast<std::int64_t>(random()) % (2 * rows), channels};
    const std::string& content = contents()[random() % contents().size()];
    const int quality = static_cast<int>(i < 12 ? 100 - i : 1 + random() % 100);
    SCOPED_TRACE(std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
                 std::to_string(channels) + " " + content + " quality " + std::to_string(quality));
    const Image image = made(shape, content);
    const File file = expected(image, quality);
    ASSERT_TRUE(in_strips(image, quality, random) == file);
    if (i % 3 == 0) {
      ASSERT_TRUE(in_rows(image, quality, random) == file);
    }
  }
}

// Noise at the highest quality ends most strips with a coefficient and ones, which padding continues.
TEST(JpegStrips, NoiseEndsWithOnes) {
  Random random(1);
  for (std::int64_t height = 17; height < (kSanitized ? 21 : 41); ++height) {
    for (const int channels : {1, 3}) {
      Image image({60'000 / channels + height, height, channels});
      for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t i = 0; i < image.shape().row_bytes(); ++i)
          image.view().row(y)[i] = static_cast<Sample8>(random() % 2 * 255);
      }
      ASSERT_TRUE(in_strips(image, 100, random) == expected(image, 100)) << height << " " << channels;
    }
  }
}

TEST(JpegStrips, OfSeveralThreads) {
  const Image image = made({4001, 500, 3}, "noise");
  const File file = expected(image, 90);
  const auto writer = make_writer(Format::jpeg, image.shape(), with(90, CodecChoice::automatic));
  const std::int64_t rows = writer->strip_rows(), strips = (500 + rows - 1) / rows;
  std::vector<std::thread> threads;
  for (std::int64_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::int64_t strip = thread; strip < strips; strip += 3)
        writer->write_strip(strip * rows,
                            image.untyped_view().rows(strip * rows, std::min(rows, 500 - strip * rows)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(writer->finish().joined() == file);
}

TEST(JpegStrips, MissingRowsAreAnError) {
  const Image image = made({4001, 100, 3}, "ramp");
  const auto writer = make_writer(Format::jpeg, image.shape(), with(90, CodecChoice::automatic));
  const std::int64_t rows = writer->strip_rows();
  writer->write_strip(rows, image.untyped_view().rows(rows, rows));
  EXPECT_THROW((void)writer->finish(), Error);
}

// One encoder is used for images of a single strip, by `codec turbo`, and where a device encodes.
TEST(JpegStrips, OnlyForTallImages) {
  const auto rows = [](Shape shape, CodecChoice codec) {
    return make_writer(Format::jpeg, shape, with(90, codec))->strip_rows();
  };
  EXPECT_EQ(rows({300, 100, 3}, CodecChoice::automatic), 0);
  EXPECT_EQ(rows({4000, 32, 3}, CodecChoice::automatic), 0);
  EXPECT_EQ(rows({4000, 33, 3}, CodecChoice::automatic), 32);
  EXPECT_EQ(rows({65'500, 17, 3}, CodecChoice::automatic), 16);
  EXPECT_EQ(rows({4000, 3000, 3}, CodecChoice::turbo), 0);
}

}  // namespace
}  // namespace imgpipe::test::jpeg_strips_test

// Our own reader of GIF's first frame, on files made byte by byte.
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/gif_file.h"
#include "tests/support/images.h"

namespace imgpipe::test::gif_test {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<int> pixel(const Image& image, std::int64_t x, std::int64_t y) {
  const Sample8* at = image.view().row(y) + x * image.shape().channels;
  return {at, at + image.shape().channels};
}

std::vector<int> rgba(int index) {
  return {color(index, 0), color(index, 1), color(index, 2), 255};
}

Indices noise(int count, int colors, unsigned seed, int spread = 1) {
  std::mt19937 random(seed);
  Indices pixels(static_cast<std::size_t>(count));
  for (int& p : pixels)
    p = static_cast<int>(random() % static_cast<unsigned>(colors) / static_cast<unsigned>(spread));
  return pixels;
}

// Returns rows in the order of an interlaced file, according to appendix E.
Indices interlace(const Indices& pixels, int width, int height) {
  Indices stored;
  for (const auto& [first, step] : {std::pair{0, 8}, {4, 8}, {2, 4}, {1, 2}}) {
    for (int y = first; y < height; y += step) {
      for (int x = 0; x < width; ++x) stored.push_back(pixels[static_cast<std::size_t>(y * width + x)]);
    }
  }
  return stored;
}

TEST(Gif, EverySizeDepthAndOrder) {
  unsigned seed = 1;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 4}, {5, 5}, {7, 8}, {17, 31}, {300, 90}}) {
    for (int bits = 1; bits <= 8; ++bits) {
      for (const bool interlaced : {false, true}) {
        const Indices pixels = noise(width * height, 1 << bits, ++seed, bits > 2 && bits % 3 == 0 ? 3 : 1);
        Gif gif{width, height};
        gif.bits = bits;
        gif.interlaced = interlaced;
        gif.local = bits % 2 == 0;
        const Bytes file =
            make_gif(gif, interlaced ? interlace(pixels, width, height) : pixels, {std::max(bits, 2)});
        Image image;
        ASSERT_NO_THROW(image = decode(file)) << width << "x" << height << " bits " << bits;
        ASSERT_EQ(image.shape(), (Shape{width, height, 3}));
        for (std::size_t i = 0; i < pixels.size(); ++i) {
          for (int c = 0; c < 3; ++c) {
            ASSERT_EQ(int{image.view().data[3 * i + static_cast<std::size_t>(c)]}, color(pixels[i], c))
                << width << "x" << height << " bits " << bits << " interlaced " << interlaced << " pixel "
                << i;
          }
        }
      }
    }
  }
}

// 90,000 pixels of noise fill the table of 4096 codes; the decoder keeps the full table until a clear code
// arrives.
TEST(Gif, FullTableIsKept) {
  const Indices pixels = noise(90'000, 256, 5);
  Gif gif{300, 300};
  gif.bits = 8;
  LzwChoice never;
  never.bits = 8;
  never.clear_when_full = false;
  LzwChoice always;
  always.bits = 8;
  const Image image = decode(make_gif(gif, pixels, never));
  EXPECT_EQ(first_difference(decode(make_gif(gif, pixels, always)).view(), image.view()), "");
  EXPECT_EQ(pixel(image, 299, 299)[0], color(pixels.back(), 0));
}

// Reproduces corpus files that all other decoders display.
TEST(Gif, NoLeadingClearCode) {
  const Indices pixels = noise(64, 4, 3);
  LzwChoice choice;
  choice.leading_clear = false;
  const Gif gif{8, 8};
  EXPECT_EQ(first_difference(decode(make_gif(gif, pixels, {})).view(),
                             decode(make_gif(gif, pixels, choice)).view()),
            "");
}

TEST(Gif, PixelsOutsideTheFrameAreNotPainted) {
  for (const int background : {0, 1, 3}) {
    for (const int transparent : {-1, 1, 3}) {
      Gif gif{5, 4, 1, 2, 3, 1};
      gif.background = background;
      gif.transparent = transparent;
      const Image image = decode(make_gif(gif, {0, 1, 2}, {}));
      ASSERT_EQ(image.shape(), (Shape{5, 4, 4}));
      for (std::int64_t y = 0; y < 4; ++y) {
        for (std::int64_t x = 0; x < 5; ++x) {
          const int index = y == 2 && x >= 1 && x <= 3 ? static_cast<int>(x) - 1 : -1;
          const bool clear = index < 0 || index == transparent;
          EXPECT_EQ(pixel(image, x, y), clear ? (std::vector<int>{0, 0, 0, 0}) : rgba(index))
              << x << " " << y;
        }
      }
    }
  }
}

TEST(Gif, AlphaOnlyIfAPixelIsTransparent) {
  for (const bool local : {false, true}) {
    Gif gif{2, 2};
    gif.local = local;
    gif.transparent = 3;
    EXPECT_EQ(decode(make_gif(gif, {0, 1, 2, 0}, {})).shape().channels, 3);
    const Image image = decode(make_gif(gif, {0, 1, 2, 3}, {}));
    EXPECT_EQ(image.shape().channels, 4);
    EXPECT_EQ(pixel(image, 0, 1), rgba(2));
    EXPECT_EQ(pixel(image, 1, 1)[3], 0);
  }
}

TEST(Gif, LastControlExtensionApplies) {
  const Gif gif{1, 1};
  Bytes file = make_gif(gif, {2}, {});
  const Bytes first{std::byte{0x21}, std::byte{0xF9}, std::byte{4}, std::byte{1},
                    std::byte{0},    std::byte{0},    std::byte{2}, std::byte{0}};
  Bytes second = first;
  second[3] = std::byte{0};
  const auto at = file.begin() + 13 + 12;
  Bytes both = file;
  both.insert(both.begin() + 13 + 12, second.begin(), second.end());
  both.insert(both.begin() + 13 + 12, first.begin(), first.end());
  EXPECT_EQ(decode(both).shape().channels, 3);
  file.insert(at, first.begin(), first.end());
  EXPECT_EQ(decode(file).shape().channels, 4);
}

TEST(Gif, FurtherImagesAreDetected) {
  const Gif gif{2, 1};
  const Bytes one = make_gif(gif, {1, 2}, {});
  const auto more = [](const Bytes& file) { return open_reader(file)->header().more_images; };
  EXPECT_FALSE(more(one));
  Bytes bare(one.begin(), one.end() - 1);
  EXPECT_FALSE(more(bare)) << "without the trailer";
  Bytes commented = bare;
  put(commented, {0x21, 0xFE, 2, 0x2C, 0x2C, 0, 0x3B});
  EXPECT_FALSE(more(commented));
  Bytes two = bare;
  put(two, {0, 0, 0x21, 0xF9, 4, 0, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 1, 0, 0, 0x3B});
  EXPECT_TRUE(more(two));
  Bytes rubbish = bare;
  put(rubbish, {0x77, 0x2C});
  EXPECT_FALSE(more(rubbish));
}

TEST(Gif, DamageIsRejectedOrFilledWithGrey) {
  const Gif gif{4, 4};
  const Indices pixels = noise(16, 4, 9);
  const Bytes good = make_gif(gif, pixels, {});
  const std::vector<int> grey{128, 128, 128};
  LzwChoice endless;
  endless.end_code = false;
  EXPECT_EQ(failure(make_gif(gif, pixels, endless)), "") << "all pixels are there";
  const Bytes few = make_gif(gif, Indices(pixels.begin(), pixels.begin() + 6), {});
  EXPECT_NE(failure(few).find("pixels are missing"), std::string::npos);
  const auto reader = open_reader(few, lenient());
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  EXPECT_EQ(reader->warnings().size(), 1U);
  EXPECT_EQ(pixel(image, 1, 1)[0], color(pixels[5], 0));
  EXPECT_EQ(pixel(image, 2, 1), grey);
  EXPECT_EQ(pixel(image, 3, 3), grey);
  Indices many = pixels;
  many.insert(many.end(), {1, 2, 3});
  EXPECT_EQ(first_difference(decode(good).view(), decode(make_gif(gif, many, {})).view()), "");

  CodeSink bad;
  for (const int code : {4, 0, 7}) bad.code(code, 3);  // the next one would be 6
  const Bytes impossible = with_data(gif_head(gif), 2, bad.sub_blocks());
  EXPECT_NE(failure(impossible).find("invalid LZW code"), std::string::npos);
  EXPECT_EQ(pixel(decode(impossible, lenient()), 1, 0), grey);
  CodeSink early;
  for (const int code : {4, 6}) early.code(code, 3);  // the first code must be a colour
  EXPECT_NE(failure(with_data(gif_head(gif), 2, early.sub_blocks())).find("invalid LZW code"),
            std::string::npos);
}

TEST(Gif, TruncationIsRejected) {
  Gif gif{9, 7};
  gif.transparent = 1;
  Bytes file = make_gif(gif, noise(63, 4, 2), {});
  file.pop_back();  // the trailer is optional
  EXPECT_EQ(failure(file), "");
  for (std::size_t size = 6; size < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(failure(cut), "") << size;
    (void)failure(cut, lenient());
  }
}

// Pixels before the truncation are right, and all others grey: missing bytes are never decoded as a code.
TEST(Gif, LenientKeepsPixelsBeforeTruncation) {
  Gif gif{9, 7};
  const Bytes file = make_gif(gif, noise(63, 4, 2), {});
  const Image whole = decode(file);
  for (std::size_t size = file.size() - 1; size > 40; --size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    DecodeOptions lenient;
    lenient.accept = Acceptance::lenient;
    if (!failure(cut, lenient).empty()) continue;
    const Image image = decode(cut, lenient);
    const int channels = image.shape().channels;
    std::int64_t same = 0;
    const auto equal = [&](std::int64_t i) {
      return std::equal(whole.view().data + 3 * i, whole.view().data + 3 * i + 3,
                        image.view().data + channels * i);
    };
    while (same < 63 && equal(same)) ++same;
    for (std::int64_t i = same; i < 63; ++i) {
      for (int c = 0; c < 3; ++c)
        ASSERT_EQ(int{image.view().data[channels * i + c]}, 128) << "cut at " << size << ", pixel " << i;
    }
  }
}

TEST(Gif, ColoursOutsideTheTable) {
  Gif gif{2, 1};
  gif.bits = 1;  // two colours, but codes for four
  const Bytes file = make_gif(gif, {1, 2}, {});
  EXPECT_NE(failure(file).find("not in the colour table"), std::string::npos);
  EXPECT_EQ(pixel(decode(file, lenient()), 0, 0)[0], color(1, 0));
  EXPECT_EQ(pixel(decode(file, lenient()), 1, 0), (std::vector<int>{128, 128, 128}));
  gif.transparent = 2;
  EXPECT_EQ(pixel(decode(make_gif(gif, {1, 2}, {})), 1, 0)[3], 0) << "a transparent pixel needs no colour";
}

TEST(Gif, HeadersAreValidated) {
  const auto refused = [](const Bytes& file, const char* why) {
    EXPECT_NE(failure(file).find(why), std::string::npos) << why << ": " << failure(file);
    EXPECT_NE(failure(file, lenient()), "");
  };
  refused(make_gif({2, 2, 1, 0, 2, 2}, {0, 0, 0, 0}, {}), "exceeds");
  refused(make_gif({2, 2, 0, 0, 0, 2}, {}, {}), "no pixels");
  refused(make_gif({0, 0, 0, 0, 0, 0}, {}, {}), "no pixels");
  Bytes no_table = make_gif({1, 1}, {0}, {});
  no_table[10] = std::byte{0};
  no_table.erase(no_table.begin() + 13, no_table.begin() + 13 + 12);
  refused(no_table, "no colour table");
  for (const int bits : {0, 9, 12, 255}) {
    refused(with_data(gif_head({1, 1}), bits, {std::byte{1}, std::byte{0}, std::byte{0}}),
            "minimum code size");
  }
  refused(make_gif({65535, 65535}, {0}, {}), "--max-pixels");
  DecodeOptions many;
  many.max_pixels = std::int64_t{1} << 40;
  EXPECT_NE(failure(make_gif({65535, 65535}, {0}, {}), many), "");
}

TEST(Gif, BandsEqualTheWholeImage) {
  Gif gif{13, 11, 2, 3, 9, 7};
  gif.interlaced = true;
  const Bytes file = make_gif(gif, noise(63, 4, 4), {});
  const Image whole = decode(file);
  const auto reader = open_reader(file);
  Image bands(reader->header().shape);
  for (std::int64_t y = 0; y < 11; y += 2)
    reader->read_rows(bands.view().rows(y, std::min<std::int64_t>(2, 11 - y)));
  EXPECT_EQ(first_difference(whole.view(), bands.view()), "");
}

// With --codec stb, a GIF that stb_image accepts is decoded correctly; others are refused.
TEST(Gif, StbIsRightOrRejected) {
  Gif gif{4, 4};
  gif.transparent = 2;
  const Bytes plain = make_gif(gif, noise(16, 4, 6), {});
  EXPECT_EQ(first_difference(decode(plain).view(), decode(plain, with_stb()).view()), "");
  Gif small{4, 4, 1, 1, 2, 2};
  EXPECT_EQ(first_difference(decode(make_gif(small, {0, 1, 2, 3}, {})).view(),
                             decode(make_gif(small, {0, 1, 2, 3}, {}), with_stb()).view()),
            "");
  small.background = 1;
  EXPECT_NE(failure(make_gif(small, {0, 1, 2, 3}, {}), with_stb()).find("outside the first frame"),
            std::string::npos);
  // Truncated where transparency hides it: stb_image alone would give transparent pixels.
  EXPECT_NE(failure(make_gif(gif, {0, 1, 2}, {}), with_stb()).find("pixels are missing"), std::string::npos);
}

TEST(Gif, CorpusFilesAllDecode) {
  IMGPIPE_NEED_CORPUS();
  int files = 0;
  for (const auto& path : files_below(*corpus() / "other/gif")) {
    if (path.extension() != ".gif") continue;
    EXPECT_EQ(failure(load(path)), "") << path;
    ++files;
  }
  EXPECT_GE(files, 20);
}

}  // namespace
}  // namespace imgpipe::test::gif_test

// BMP files packed by RLE8 and RLE4: every command, positions outside the image, and early ends.
#include <gtest/gtest.h>

#include "tests/support/bmp_file.h"

namespace imgpipe::test::bmp_rle_test {
namespace {

struct RleCase {
  int bits;
  Values codes;
  Values indices;  // top to bottom, 3 wide
};

Bmp rle(int bits, int height, Values codes) {
  Bmp bmp;
  bmp.width = 3, bmp.height = height, bmp.bits = bits, bmp.compression = bits == 8 ? 1 : 2;
  bmp.palette = palette_bytes(1 << bits, 4), bmp.pixels = std::move(codes);
  return bmp;
}

TEST(BmpRle, RunLengths) {
  const std::vector<RleCase> cases{
      {8, {3, 7, 0, 0, 1, 1, 2, 9, 0, 1}, {1, 9, 9, 7, 7, 7}},
      {8, {0, 3, 1, 2, 3, 99, 0, 0, 3, 4, 0, 0, 0, 1}, {4, 4, 4, 1, 2, 3}},  // odd counts are padded
      {8, {3, 7, 0, 2, 0, 1, 0, 1}, {0, 0, 0, 7, 7, 7}},                     // skipped pixels have colour 0
      {8, {1, 7, 0, 2, 1, 0, 1, 8, 0, 0, 0, 2, 2, 0, 1, 9, 0, 1}, {0, 0, 9, 7, 0, 8}},
      {8, {1, 7, 0, 0, 1, 6, 0, 1}, {6, 0, 0, 7, 0, 0}},
      {8, {0, 1}, {0, 0, 0, 0, 0, 0}},
      {4, {3, 0x5A, 0, 0, 0, 3, 0x12, 0x30, 0, 1}, {1, 2, 3, 5, 10, 5}},
      {4, {0, 3, 0x12, 0x3F, 0, 0, 2, 0x45, 1, 0x67, 0, 1}, {4, 5, 6, 1, 2, 3}},
      {4, {1, 0xF0, 0, 2, 1, 1, 1, 0xE0, 0, 1}, {0, 0, 14, 15, 0, 0}},
  };
  for (const RleCase& c : cases) {
    SCOPED_TRACE(&c - cases.data());
    Values expected;
    for (const int index : c.indices) {
      const Values color = color_of(index);
      expected.insert(expected.end(), color.begin(), color.end());
    }
    EXPECT_EQ(samples(decode(rle(c.bits, 2, c.codes).build())), expected);
    EXPECT_EQ(samples(decode_in_bands(rle(c.bits, 2, c.codes).build(), 1)), expected);
  }
}

TEST(BmpRle, RunsOutsideTheImageAreRejected) {
  for (const Values& codes : std::vector<Values>{{5, 7, 0, 1},
                                                 {0, 5, 1, 2, 3, 4, 5, 99, 0, 1},
                                                 {3, 7, 2, 7, 0, 1},
                                                 {0, 0, 1, 7, 0, 1},
                                                 {0, 2, 4, 0, 1, 7, 0, 1},
                                                 {0, 2, 0, 1, 1, 7, 0, 1}}) {
    const FileBytes file = rle(8, 1, codes).build();
    EXPECT_EQ(failure(file), "bmp: RLE codes write outside the image");
    EXPECT_EQ(warnings(file), (std::vector<std::string>{"damaged bmp: 1 pixels lie outside the image"}));
  }
}

// ImageMagick also packs a row's padding, up to a multiple of four bytes.
TEST(BmpRle, PaddingMayBePacked) {
  const FileBytes plain = rle(8, 2, {0, 3, 1, 2, 3, 99, 0, 0, 3, 4, 0, 0, 0, 1}).build();
  for (const Values& codes : std::vector<Values>{{0, 4, 1, 2, 3, 0, 0, 0, 4, 4, 0, 0, 0, 1},
                                                 {0, 3, 1, 2, 3, 99, 1, 0, 0, 0, 3, 4, 1, 0, 0, 1}}) {
    const FileBytes file = rle(8, 2, codes).build();
    EXPECT_EQ(failure(file), "");
    EXPECT_EQ(samples(decode(file)), samples(decode(plain)));
    EXPECT_TRUE(warnings(file).empty());
  }
}

TEST(BmpRle, TruncationAtEveryByte) {
  const FileBytes whole = rle(8, 2, {1, 0, 2, 7, 0, 0, 0, 3, 1, 2, 3, 0, 0, 1}).build();
  ASSERT_EQ(failure(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const FileBytes part = cut(whole, size);
    EXPECT_NE(failure(part), "") << size;
    if (size < whole.size() - 14) {
      EXPECT_NE(failure(part, lenient()), "") << size;
    } else {
      EXPECT_FALSE(warnings(part).empty()) << size;
    }
  }
  // Without the last five bytes of codes, the second row has one pixel and the rest of the image is missing.
  EXPECT_EQ(samples(decode(cut(whole, whole.size() - 5), lenient())),
            (Values{8, 7, 6, 128, 128, 128, 128, 128, 128, 1, 2, 3, 50, 37, 24, 50, 37, 24}));
}

TEST(BmpRle, IndexOutsideThePalette) {
  Bmp bmp = rle(8, 1, {1, 0, 2, 1, 0, 1});
  bmp.palette = palette_bytes(1, 4), bmp.colors = 1;
  EXPECT_EQ(failure(bmp.build()), "bmp: a pixel's colour is not in the palette");
  EXPECT_EQ(samples(decode(bmp.build(), lenient())), (Values{1, 2, 3, 128, 128, 128, 128, 128, 128}));
}

TEST(BmpRle, ChangedBytesAreHandledSafely) {
  expect_stable_when_damaged(rle(8, 2, {3, 7, 0, 0, 0, 3, 1, 2, 3, 0, 0, 1}).build());
  expect_stable_when_damaged(rle(4, 2, {3, 7, 0, 2, 0, 1, 2, 9, 0, 1}).build());
}

TEST(BmpRle, TopDownIsLenientOnly) {
  Bmp bmp = rle(8, -2, {3, 7, 0, 0, 3, 9, 0, 1});
  EXPECT_NE(failure(bmp.build()).find("bottom-up rows"), std::string::npos);
  EXPECT_EQ(samples(decode(bmp.build(), lenient()))[0], 50);
}

}  // namespace
}  // namespace imgpipe::test::bmp_rle_test

// TGA files made byte by byte: every type, depth and origin, palettes, packets, alpha, and refusals.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpipe::test::tga_test {
namespace {

constexpr int kRightToLeft = 0x10;
constexpr int kTopDown = 0x20;

// The fields of a TGA file; build() composes them.
struct Tga {
  int type = 2;
  int width = 1;
  int height = 1;
  int bits = 24;
  int descriptor = kTopDown;
  Values id;
  bool has_palette = false;
  int first = 0;
  int palette_bits = 24;
  Values palette;  // bytes as stored
  Values pixels;   // bytes as stored
  int attributes_type = -1;

  [[nodiscard]] FileBytes build() const {
    FileBytes file;
    const auto put = [&](int value, int bytes) {
      for (int i = 0; i < bytes; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
    };
    const int entries = has_palette ? static_cast<int>(palette.size()) / ((palette_bits + 7) / 8) : 0;
    put(static_cast<int>(id.size()), 1), put(has_palette ? 1 : 0, 1), put(type, 1);
    put(first, 2), put(entries, 2), put(has_palette ? palette_bits : 0, 1), put(0, 4);
    put(width, 2), put(height, 2), put(bits, 1), put(descriptor, 1);
    for (const Values* part : {&id, &palette, &pixels}) {
      for (const int value : *part) put(value, 1);
    }
    if (attributes_type < 0) return file;
    const auto extension = static_cast<int>(file.size());
    put(495, 2), file.resize(file.size() + 492), put(attributes_type, 1);
    put(extension, 4), put(0, 4);
    for (const char c : std::string_view("TRUEVISION-XFILE.\0", 18)) put(c, 1);
    return file;
  }
};

DecodeOptions with_stb() {
  DecodeOptions options;
  options.codec = CodecChoice::stb;
  return options;
}

// ---- pixels -------------------------------------------------------------------------------------------

struct PixelCase {
  int type;
  int bits;
  int descriptor;
  Values pixel;
  Values expected;
  int bits_per_sample;
};

TEST(Tga, PixelsOfEveryTypeAndDepth) {
  const std::vector<PixelCase> cases{
      {2, 15, 0, {0x5E, 0x84}, {8, 16, 247}, 5},  // 0 00001 00010 11110
      {2, 16, 1, {0x5E, 0x04}, {8, 16, 247}, 5},  // the highest bit is not alpha
      {2, 24, 0, {1, 2, 3}, {3, 2, 1}, 8},
      {2, 32, 8, {1, 2, 3, 4}, {3, 2, 1, 4}, 8},
      {2, 32, 0, {1, 2, 3, 4}, {3, 2, 1}, 8},  // no alpha according to the descriptor
      {3, 8, 0, {7}, {7}, 8},
      {3, 16, 8, {7, 9}, {7, 9}, 8},
  };
  for (const PixelCase& c : cases) {
    SCOPED_TRACE("type " + std::to_string(c.type) + ", " + std::to_string(c.bits) + " bits");
    Tga tga;
    tga.type = c.type, tga.bits = c.bits, tga.descriptor = c.descriptor, tga.pixels = c.pixel;
    EXPECT_EQ(samples(decode(tga.build())), c.expected);
    EXPECT_EQ(open_reader(tga.build())->header().bits_per_sample, c.bits_per_sample);
    tga.id = {65, 66, 67};
    EXPECT_EQ(samples(decode(tga.build())), c.expected) << "with an image ID";
    tga.type += 8, tga.pixels.insert(tga.pixels.begin(), 0);
    EXPECT_EQ(samples(decode(tga.build())), c.expected) << "packed";
    if (c.type != 2) continue;
    tga.has_palette = true, tga.palette = {9, 9, 9};
    EXPECT_EQ(samples(decode(tga.build())), c.expected) << "with a palette that is not used";
  }
}

TEST(Tga, EveryOriginShowsTheSameImage) {
  const Values upright{1, 2, 3, 4, 5, 6};  // 3 wide, 2 high
  const std::vector<std::pair<int, Values>> origins{{kTopDown, {1, 2, 3, 4, 5, 6}},
                                                    {0, {4, 5, 6, 1, 2, 3}},
                                                    {kTopDown | kRightToLeft, {3, 2, 1, 6, 5, 4}},
                                                    {kRightToLeft, {6, 5, 4, 3, 2, 1}}};
  for (const auto& [descriptor, stored] : origins) {
    SCOPED_TRACE(descriptor);
    Tga tga;
    tga.type = 3, tga.bits = 8, tga.width = 3, tga.height = 2, tga.descriptor = descriptor;
    tga.pixels = stored;
    EXPECT_EQ(samples(decode(tga.build())), upright);
    EXPECT_EQ(samples(decode_in_bands(tga.build(), 1)), upright);
    tga.type = 11, tga.pixels.insert(tga.pixels.begin(), 5);
    EXPECT_EQ(samples(decode(tga.build())), upright);
    EXPECT_EQ(samples(decode_in_bands(tga.build(), 1)), upright);
  }
}

// Even and odd widths, pixels of several bytes.
TEST(Tga, RightToLeftReversesWholePixels) {
  for (const int width : {1, 2, 3, 4, 7}) {
    Tga tga;
    tga.width = width, tga.descriptor = kTopDown | kRightToLeft;
    Values expected;
    for (int x = 0; x < width; ++x) {
      tga.pixels.insert(tga.pixels.begin(), {3 * x + 2, 3 * x + 1, 3 * x});
      expected.insert(expected.end(), {3 * x, 3 * x + 1, 3 * x + 2});
    }
    EXPECT_EQ(samples(decode(tga.build())), expected) << width;
  }
}

TEST(Tga, PaletteOfEveryDepth) {
  Tga tga;
  tga.type = 1, tga.bits = 8, tga.width = 2, tga.has_palette = true, tga.pixels = {1, 0};
  tga.palette = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(samples(decode(tga.build())), (Values{6, 5, 4, 3, 2, 1}));
  tga.palette_bits = 32, tga.palette = {1, 2, 3, 9, 4, 5, 6, 8};
  EXPECT_EQ(samples(decode(tga.build())), (Values{6, 5, 4, 8, 3, 2, 1, 9}));
  for (const int bits : {15, 16}) {
    tga.palette_bits = bits, tga.palette = {0x5E, 0x84, 0x00, 0x7C};
    EXPECT_EQ(samples(decode(tga.build())), (Values{255, 0, 0, 8, 16, 247}));
    EXPECT_EQ(open_reader(tga.build())->header().bits_per_sample, 5);
  }
}

TEST(Tga, PaletteThatBeginsAboveZero) {
  Tga tga;
  tga.type = 1, tga.bits = 8, tga.width = 2, tga.has_palette = true, tga.first = 7;
  tga.palette = {1, 2, 3, 4, 5, 6}, tga.pixels = {8, 7};
  EXPECT_EQ(samples(decode(tga.build())), (Values{6, 5, 4, 3, 2, 1}));
  for (const int beyond : {0, 6, 9, 255}) {
    tga.pixels = {beyond, 7};
    EXPECT_EQ(failure(tga.build()), "tga: a pixel's colour is not in the palette");
    EXPECT_EQ(samples(decode(tga.build(), lenient())), (Values{128, 128, 128, 3, 2, 1}));
  }
  tga.bits = 16, tga.first = 700, tga.pixels = {700 & 255, 700 >> 8, 701 & 255, 701 >> 8};
  EXPECT_EQ(samples(decode(tga.build())), (Values{3, 2, 1, 6, 5, 4}));
}

// The extension area specifies the meaning of alpha.
TEST(Tga, AttributesType) {
  Tga tga;
  tga.bits = 32, tga.descriptor = kTopDown | 8, tga.pixels = {50, 100, 3, 128};
  EXPECT_EQ(samples(decode(tga.build())), (Values{3, 100, 50, 128}));
  for (const int type : {0, 2, 3, 5, 255}) {
    tga.attributes_type = type;
    EXPECT_EQ(samples(decode(tga.build())), (Values{3, 100, 50, 128})) << type;
  }
  tga.attributes_type = 1;
  EXPECT_EQ(samples(decode(tga.build())), (Values{3, 100, 50}));
  tga.attributes_type = 4;  // (v*255 + a/2) / a
  EXPECT_EQ(samples(decode(tga.build())), (Values{6, 199, 100, 128}));
  tga.pixels = {50, 100, 3, 60};
  EXPECT_EQ(samples(decode(tga.build())), (Values{13, 255, 213, 60}));
  tga.pixels = {50, 100, 3, 0};
  EXPECT_EQ(samples(decode(tga.build())), (Values{0, 0, 0, 0}));
  tga.type = 3, tga.bits = 16, tga.pixels = {30, 60};
  EXPECT_EQ(samples(decode(tga.build())), (Values{128, 60}));
  // An invalid footer is ignored.
  FileBytes file = tga.build();
  for (const int offset : {0, 17, 0x7FFFFFFF, -1}) {
    for (std::size_t i = 0; i < 4; ++i)
      file[file.size() - 26 + i] = static_cast<std::byte>(offset >> (8 * i));
    EXPECT_EQ(samples(decode(file)), (Values{30, 60}));
  }
}

// ---- packets ------------------------------------------------------------------------------------------

TEST(Tga, PacketsCrossRows) {
  Tga tga;
  tga.type = 11, tga.bits = 8, tga.width = 3, tga.height = 3;
  tga.pixels = {0x80 | 4, 7, 3, 1, 2, 3, 4};  // five times 7, then four literals
  EXPECT_EQ(samples(decode(tga.build())), (Values{7, 7, 7, 7, 7, 1, 2, 3, 4}));
  EXPECT_EQ(samples(decode_in_bands(tga.build(), 2)), (Values{7, 7, 7, 7, 7, 1, 2, 3, 4}));
  tga.descriptor = kRightToLeft;
  EXPECT_EQ(samples(decode(tga.build())), (Values{4, 3, 2, 1, 7, 7, 7, 7, 7}));
  tga.pixels = {0xFF, 9};  // more than the image has
  EXPECT_EQ(samples(decode(tga.build())), Values(9, 9));
}

TEST(Tga, TwoLongColourPackets) {
  Tga tga;
  tga.type = 10, tga.width = 128, tga.height = 2, tga.pixels = {0xFF, 1, 2, 3, 0xFF, 4, 5, 6};
  const Values got = samples(decode(tga.build()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], (i < 384 ? 3 : 6) - static_cast<int>(i % 3)) << i;
  }
}

// ---- refusals and truncation --------------------------------------------------------------------------

TEST(Tga, ErrorsNameTheCause) {
  Tga tga;
  tga.pixels = {1, 2, 3};
  for (const int bits : {0x40, 0x80, 0xC0}) {
    tga.descriptor = bits;
    EXPECT_EQ(failure(tga.build()), "tga: interleaved rows are not supported");
  }
  tga.bits = 32, tga.descriptor = 3, tga.pixels.push_back(4);
  EXPECT_EQ(failure(tga.build()), "tga: 3 alpha bits in a pixel of 32 bits are not supported");
  tga.type = 3, tga.bits = 16, tga.descriptor = 0;
  EXPECT_EQ(failure(tga.build()), "tga: 0 alpha bits in a pixel of 16 bits are not supported");
}

// If header and palette are complete, missing pixels are mid-grey and opaque, not a colour of the palette.
TEST(Tga, TruncationAtEveryByte) {
  for (const int type : {1, 2, 3, 9, 10, 11}) {
    SCOPED_TRACE(type);
    Tga tga;
    const int channels = type % 8 == 1 ? 3 : type % 8 == 2 ? 4 : 1;
    tga.type = type, tga.bits = channels == 4 ? 32 : 8, tga.width = 3, tga.height = 2;
    tga.descriptor = kTopDown | (channels == 4 ? 8 : 0);
    if (channels == 3) tga.has_palette = true, tga.palette = {1, 2, 3};
    if (type > 8) tga.pixels.push_back(5);
    tga.pixels.resize(tga.pixels.size() + (channels == 4 ? 24 : 6), 0);
    const FileBytes whole = tga.build();
    const Values complete = samples(decode(whole));
    const std::size_t head = whole.size() - tga.pixels.size();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const FileBytes part = cut(whole, size);
      EXPECT_NE(failure(part), "") << size;
      if (size < head) {
        EXPECT_NE(failure(part, lenient()), "") << size;
        continue;
      }
      const std::size_t have = (size - head - (type > 8 && size > head ? 1 : 0)) / (channels == 4 ? 4 : 1);
      const Values got = samples(decode(part, lenient()));
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t of = static_cast<std::size_t>(channels);
        const int missing = channels == 4 && i % of == 3 ? 255 : 128;
        ASSERT_EQ(got[i], i / of < have ? complete[i] : missing) << "cut to " << size << ", sample " << i;
      }
      EXPECT_EQ(warnings(part), (std::vector<std::string>{"damaged tga: " + std::to_string(6 - have) +
                                                          " pixels are missing"}));
    }
  }
}

TEST(Tga, TinyFileWithAHugeSize) {
  Tga tga;
  tga.type = 10, tga.width = 16000, tga.height = 16000, tga.pixels = {0xFF, 1, 2, 3};
  EXPECT_NE(failure(tga.build()).find("truncated"), std::string::npos);
  tga.width = 65535, tga.height = 65535;
  EXPECT_NE(failure(tga.build()).find("--max-pixels"), std::string::npos);
}

TEST(Tga, ChangedBytesAreHandledSafely) {
  Tga tga;
  tga.type = 9, tga.bits = 8, tga.width = 3, tga.height = 2, tga.has_palette = true;
  tga.palette = {1, 2, 3, 4, 5, 6}, tga.pixels = {0x83, 1, 1, 0, 1};
  expect_stable_when_damaged(tga.build());
  tga = {};
  tga.bits = 32, tga.descriptor = kRightToLeft | 8, tga.width = 2, tga.pixels = {1, 2, 3, 4, 5, 6, 7, 8};
  tga.attributes_type = 4;
  expect_stable_when_damaged(tga.build());
}

// ---- stb_image ----------------------------------------------------------------------------------------

TEST(Tga, FilesThatStbMisreadsAreRejected) {
  Tga good;
  good.pixels = {1, 2, 3};
  EXPECT_EQ(samples(decode(good.build(), with_stb())), (Values{3, 2, 1}));
  Tga tga = good;
  tga.descriptor = kRightToLeft;
  EXPECT_EQ(failure(tga.build(), with_stb()), "tga: stb_image does not support rows from right to left");
  tga.descriptor = 0x80;
  EXPECT_EQ(failure(tga.build(), with_stb()), "tga: stb_image does not support interleaved rows");
  tga = good;
  tga.has_palette = true, tga.palette = {9, 9, 9};
  EXPECT_EQ(failure(tga.build(), with_stb()),
            "tga: stb_image does not support a palette that the pixels do not use");
  tga.type = 1, tga.bits = 8, tga.first = 1, tga.pixels = {1};
  EXPECT_EQ(failure(tga.build(), with_stb()),
            "tga: stb_image does not support a palette whose first index is not 0");
}

// ---- real files ---------------------------------------------------------------------------------------

TEST(TgaCorpus, RealPalettesBeginAboveZero) {
  IMGPIPE_NEED_CORPUS();
  const auto found = [](const char* name) { return load(*corpus() / "found" / name); };
  // Entries 2 to 5 for four colours, and pixels 2, 3, 4, 5.
  EXPECT_EQ(samples(decode(found("cm_own.tga"))),
            (Values{30, 20, 10, 60, 50, 40, 90, 80, 70, 120, 110, 100}));
  for (const char* name : {"cm_ext.tga", "cmap_offset.tga"}) {  // 72 pixels, entries from 39 on
    const FileBytes file = found(name);
    const Values got = samples(decode(file));
    ASSERT_EQ(got.size(), 3U * 72);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t entry = std::to_integer<std::size_t>(file[18 + 20 + 3 * 72 + i / 3]) - 39;
      ASSERT_EQ(got[i], std::to_integer<int>(file[18 + 20 + 3 * entry + 2 - i % 3]))
          << name << ", sample " << i;
    }
  }
}

// Inverting the descriptor's right-to-left bit mirrors the image.
TEST(TgaCorpus, RealOrigins) {
  IMGPIPE_NEED_CORPUS();
  for (const char* name : {"top_right.tga", "bottom_right.tga"}) {
    FileBytes file = load(*corpus() / "found" / name);
    const Image got = decode(file);
    file[17] ^= std::byte{kRightToLeft};
    const Image mirrored = decode(file);
    ASSERT_EQ(got.shape(), (Shape{75, 70, 4}));
    for (std::int64_t y = 0; y < 70; ++y) {
      for (std::int64_t i = 0; i < 300; ++i) {
        const std::int64_t opposite = 4 * (74 - i / 4) + i % 4;
        ASSERT_EQ(got.view().row(y)[i], mirrored.view().row(y)[opposite]) << name;
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::tga_test

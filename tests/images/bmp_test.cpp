// BMP files made byte by byte: every version of the header, every depth, masks, refusals, truncation.
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/bmp_file.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpipe::test::bmp_test {
namespace {

// An image's packed indices as stored (bottom row first unless top_down), and its colours from top to bottom.
struct Indexed {
  Values stored;
  Values colors;
};

Indexed make_indexed(int width, int height, int bits, bool top_down) {
  const auto index = [&](int x, int y) { return (x * 5 + y * 3 + 1) % (1 << bits); };
  Indexed made;
  for (int row = 0; row < height; ++row) {
    const int y = top_down ? row : height - 1 - row;
    Values bytes(static_cast<std::size_t>((width * bits + 31) / 32 * 4), 0);
    for (int x = 0; x < width; ++x) {
      bytes[static_cast<std::size_t>(x * bits / 8)] |= index(x, y) << (8 - bits - x * bits % 8);
    }
    made.stored.insert(made.stored.end(), bytes.begin(), bytes.end());
    for (int x = 0; x < width; ++x) {
      const Values color = color_of(index(x, row));
      made.colors.insert(made.colors.end(), color.begin(), color.end());
    }
  }
  return made;
}

// ---- headers, depths, order ---------------------------------------------------------------------------

TEST(Bmp, EveryHeaderVersionDecodes) {
  Values versions{12, 40, 42, 46, 52, 56, 108, 124};
  for (int size = 16; size <= 64; size += 4) versions.push_back(size);
  for (const int size : versions) {
    SCOPED_TRACE(size);
    const Indexed made = make_indexed(5, 3, 4, false);
    Bmp bmp;
    bmp.header_bytes = static_cast<std::uint32_t>(size);
    bmp.width = 5, bmp.height = 3, bmp.bits = 4, bmp.pixels = made.stored;
    bmp.palette = palette_bytes(16, size == 12 ? 3 : 4);
    const auto reader = open_reader(bmp.build());
    EXPECT_EQ(reader->header().format, Format::bmp);
    EXPECT_EQ(reader->header().bits_per_sample, 8);
    EXPECT_EQ(samples(decode(bmp.build())), made.colors);
  }
}

TEST(Bmp, IndexedImagesOfEveryDepthWidthAndOrder) {
  for (const int bits : {1, 2, 4, 8}) {
    for (const int width : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 65}) {
      for (const bool top_down : {false, true}) {
        SCOPED_TRACE(std::to_string(bits) + " bits, width " + std::to_string(width) +
                     (top_down ? " top down" : ""));
        const Indexed made = make_indexed(width, 3, bits, top_down);
        Bmp bmp;
        bmp.width = width, bmp.height = top_down ? -3 : 3, bmp.bits = bits, bmp.pixels = made.stored;
        bmp.palette = palette_bytes(1 << bits, 4);
        EXPECT_EQ(samples(decode(bmp.build())), made.colors);
      }
    }
  }
}

// OS/2 programs write such files: the palette ends where the pixels begin, even if the indices allow more
// colours.
TEST(Bmp, ShortOs2Palette) {
  Bmp bmp;
  bmp.header_bytes = 12, bmp.width = 2, bmp.bits = 8, bmp.palette = palette_bytes(3, 3);
  bmp.pixels = {2, 1, 0, 0};
  EXPECT_EQ(samples(decode(bmp.build())), (Values{15, 12, 9, 8, 7, 6}));
  bmp.pixels = {3, 1, 0, 0};
  EXPECT_EQ(failure(bmp.build()), "bmp: a pixel's colour is not in the palette");
}

TEST(Bmp, Os2SidesAreUnsigned) {
  Bmp bmp;
  bmp.header_bytes = 12, bmp.width = 1, bmp.height = 40000, bmp.pixels.resize(160000, 9);
  EXPECT_EQ(decode(bmp.build()).shape(), (Shape{1, 40000, 3}));
}

TEST(Bmp, BandsEqualTheWholeImage) {
  for (const bool top_down : {false, true}) {
    const Indexed made = make_indexed(9, 7, 8, top_down);
    Bmp bmp;
    bmp.width = 9, bmp.height = top_down ? -7 : 7, bmp.bits = 8, bmp.pixels = made.stored;
    bmp.palette = palette_bytes(256, 4);
    for (const std::int64_t band : {1, 2, 3, 6, 7}) {
      EXPECT_EQ(samples(decode_in_bands(bmp.build(), band)), made.colors) << band << " rows at once";
    }
  }
}

// ---- masks and alpha ----------------------------------------------------------------------------------

struct MaskCase {
  std::uint32_t header_bytes;
  int bits;
  std::uint32_t compression;
  std::vector<std::uint32_t> masks;
  std::uint32_t pixel;
  Values expected;
  int bits_per_sample;
};

TEST(Bmp, Masks) {
  // (v*255 + m/2) / m: 5 bits map 1 to 8 and 30 to 247, 6 bits map 1 to 4, 10 bits map 512 to 128.
  const std::vector<MaskCase> cases{
      {40, 16, 0, {}, 0x801E | 1 << 5 | 31 << 10, {255, 8, 247}, 5},
      {40, 16, 3, {0xF800, 0x7E0, 0x1F}, 1 << 11 | 1 << 5 | 30, {8, 4, 247}, 6},
      {40, 16, 3, {0x1F, 0x7E0, 0xF800}, 1 << 11 | 1 << 5 | 30, {247, 4, 8}, 6},
      {40, 16, 6, {0x7C00, 0x3E0, 0x1F, 0x8000}, 0x8000 | 1 << 10, {8, 0, 0, 255}, 5},
      {40, 16, 6, {0x7C00, 0x3E0, 0x1F, 0x8000}, 31, {0, 0, 255, 0}, 5},
      {40, 16, 3, {0xFF00, 0xFF, 0}, 0x1234, {0x12, 0x34, 0}, 8},
      {40, 16, 3, {0xC000, 0x3800, 0x0001}, 0x4801, {85, 36, 255}, 3},
      {52, 16, 3, {0xF00, 0xF0, 0xF}, 0xF1E2, {17, 238, 34}, 4},
      {56, 16, 3, {0xF00, 0xF0, 0xF, 0xF000}, 0x31E2, {17, 238, 34, 51}, 4},
      {56, 32, 3, {0xFF000000, 0xFF0000, 0xFF00, 0}, 0x01020304, {1, 2, 3}, 8},
      {108, 32, 3, {0xFF, 0xFF00, 0xFF0000, 0xFF000000}, 0x01020304, {4, 3, 2, 1}, 8},
      {124, 32, 3, {0xFF0000, 0xFF00, 0xFF, 0xFF000000}, 0, {0, 0, 0, 0}, 8},
      {124,
       32,
       3,
       {0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000},
       1023U | 512 << 10 | 1U << 30,
       {255, 128, 0, 85},
       10},
      {40, 32, 3, {0xFFFF0000, 0xFF00, 0xFF}, 0x80000102, {128, 1, 2}, 16},
      {40, 32, 3, {0xFFFFFFFF, 0, 0}, 0x80000000, {128, 0, 0}, 32},
      {40, 32, 3, {0x80000000, 0x7FFFFFFF, 0}, 0xC0000000, {255, 128, 0}, 31},
      // Without masks, the fourth byte is padding, unless the header's alpha mask selects it.
      {40, 32, 0, {}, 0x80010203, {1, 2, 3}, 8},
      {40, 32, 0, {}, 0x00010203, {1, 2, 3}, 8},
      {124, 32, 0, {0xFF, 0xFF00, 0xFF0000, 0}, 0x80010203, {1, 2, 3}, 8},
      {124, 32, 0, {0, 0, 0, 0xFF000000}, 0x80010203, {1, 2, 3, 128}, 8},
      {124, 32, 0, {0, 0, 0, 0x80000000}, 0x80010203, {1, 2, 3}, 8},
      {64, 32, 0, {}, 0x80010203, {1, 2, 3}, 8},
  };
  for (const MaskCase& c : cases) {
    SCOPED_TRACE(&c - cases.data());
    Bmp bmp;
    bmp.header_bytes = c.header_bytes, bmp.bits = c.bits, bmp.compression = c.compression,
    bmp.masks = c.masks;
    for (int i = 0; i < 4; ++i) bmp.pixels.push_back(static_cast<int>(c.pixel >> (8 * i) & 255));
    const FileBytes file = bmp.build();
    EXPECT_EQ(samples(decode(file)), c.expected);
    EXPECT_EQ(open_reader(file)->header().bits_per_sample, c.bits_per_sample);
  }
}

TEST(Bmp, EveryValueOfAMaskIsRounded) {
  Bmp bmp;
  bmp.compression = 3, bmp.bits = 16, bmp.width = 64, bmp.masks = {0xFC00, 0x3E0, 0x1F};
  for (int v = 0; v < 64; ++v) {
    const int pixel = v << 10 | (v % 32) << 5 | (31 - v % 32);
    bmp.pixels.insert(bmp.pixels.end(), {pixel & 255, pixel >> 8});
  }
  const Values got = samples(decode(bmp.build()));
  const auto rounded = [](std::size_t value, double most) {
    return static_cast<int>(std::lround(static_cast<double>(value) * 255 / most));
  };
  for (std::size_t v = 0; v < 64; ++v) {
    EXPECT_EQ(got[3 * v], rounded(v, 63));
    EXPECT_EQ(got[3 * v + 1], rounded(v % 32, 31));
    EXPECT_EQ(got[3 * v + 2], rounded(31 - v % 32, 31));
  }
}

// ---- refusals -----------------------------------------------------------------------------------------

struct Refusal {
  std::string words;
  void (*edit)(Bmp&);
};

TEST(Bmp, ErrorsNameTheCause) {
  const std::vector<Refusal> cases{
      {"unknown header size: 39 bytes", [](Bmp& b) { b.header_bytes = 39; }},
      {"unknown header size: 200 bytes", [](Bmp& b) { b.header_bytes = 200; }},
      {"the width is negative", [](Bmp& b) { b.width = -2; }},
      {"the width or height is 0", [](Bmp& b) { b.width = 0; }},
      {"the width or height is 0", [](Bmp& b) { b.height = 0; }},
      {"2 planes instead of 1", [](Bmp& b) { b.planes = 2; }},
      {"3 bits per pixel are not supported", [](Bmp& b) { b.bits = 3; }},
      {"30000 bits per pixel are not supported", [](Bmp& b) { b.bits = 30000; }},
      {"RLE8 compression requires 8 bits per pixel", [](Bmp& b) { b.bits = 4, b.compression = 1; }},
      {"RLE4 compression requires 4 bits per pixel", [](Bmp& b) { b.compression = 2; }},
      {"Huffman 1D compression (OS/2)", [](Bmp& b) { b.bits = 1, b.compression = 3; }},
      {"Huffman 1D compression (OS/2)", [](Bmp& b) { b.header_bytes = 64, b.bits = 1, b.compression = 3; }},
      {"RLE24 compression (OS/2)", [](Bmp& b) { b.header_bytes = 64, b.bits = 24, b.compression = 4; }},
      {"RLE24 compression (OS/2)", [](Bmp& b) { b.bits = 24, b.compression = 4; }},
      {"an embedded JPEG", [](Bmp& b) { b.bits = 0, b.compression = 4; }},
      {"an embedded PNG", [](Bmp& b) { b.bits = 0, b.compression = 5; }},
      {"CMYK", [](Bmp& b) { b.bits = 32, b.compression = 11; }},
      {"compression 77 is unknown", [](Bmp& b) { b.compression = 77; }},
      {"compression 6 is unknown", [](Bmp& b) { b.header_bytes = 64, b.bits = 32, b.compression = 6; }},
      {"colour masks require 16 or 32 bits", [](Bmp& b) { b.bits = 24, b.compression = 3; }},
      {"a colour mask has gaps",
       [](Bmp& b) {
         b.bits = 32, b.compression = 3, b.masks = {0xF0F, 0xF0, 0xF000};
       }},
      {"colour masks overlap",
       [](Bmp& b) {
         b.bits = 32, b.compression = 3, b.masks = {0xFF, 0xFF0, 0xF000};
       }},
      {"do not fit the pixel",
       [](Bmp& b) {
         b.bits = 16, b.compression = 3, b.masks = {0x1F000, 0xF0, 0xF};
       }},
      {"the colour masks are empty",
       [](Bmp& b) {
         b.bits = 16, b.compression = 3, b.masks = {0, 0, 0};
       }},
      {"the header declares 3 colours, but the palette has space for 2", [](Bmp& b) { b.colors = 3; }},
      {"the header declares 4294967295 colours", [](Bmp& b) { b.colors = 0xFFFFFFFF; }},
      {"the palette is missing", [](Bmp& b) { b.pixels_at = 54; }},
      {"the pixels begin at byte 53, inside the header", [](Bmp& b) { b.pixels_at = 53; }},
      {"inside the header",
       [](Bmp& b) {
         b.bits = 16, b.compression = 3, b.masks = {0xF00, 0xF0, 0xF}, b.pixels_at = 65;
       }},
      {"the file is truncated", [](Bmp& b) { b.pixels_at = 0xFFFFFFFF; }},
      {"a pixel's colour is not in the palette",
       [](Bmp& b) {
         b.pixels = {0, 2, 0, 0};
       }},
      {"the file is truncated", [](Bmp& b) { b.pixels.pop_back(); }},
  };
  EXPECT_EQ(failure(two_colors().build()), "");
  for (const Refusal& c : cases) {
    Bmp bmp = two_colors();
    c.edit(bmp);
    const std::string reason = failure(bmp.build());
    EXPECT_TRUE(reason.starts_with("bmp: ")) << reason;
    EXPECT_NE(reason.find(c.words), std::string::npos) << "expected: " << c.words << ", got: " << reason;
  }
}

TEST(Bmp, ExcessiveSizesAreRejected) {
  for (const auto& [width, height] :
       {std::pair{0x7FFFFFFF, 0x7FFFFFFF}, {1, -0x7FFFFFFF - 1}, {40000, 40000}}) {
    Bmp bmp = two_colors();
    bmp.width = width, bmp.height = height;
    EXPECT_NE(failure(bmp.build()).find("too large"), std::string::npos);
    EXPECT_NE(failure(bmp.build(), lenient()).find("too large"), std::string::npos);
    bmp.compression = 1;
    EXPECT_NE(failure(bmp.build(), lenient()).find("too large"), std::string::npos);
    bmp.compression = 0;
    DecodeOptions stb = lenient();
    stb.codec = CodecChoice::stb;
    EXPECT_NE(failure(bmp.build(), stb), "");
  }
}

// Accepts an optional palette with more colours than an index can name, and gaps before the pixels.
TEST(Bmp, LongPalettesAndGaps) {
  Bmp bmp = two_colors();
  bmp.palette = palette_bytes(300, 4), bmp.colors = 300;
  EXPECT_EQ(samples(decode(bmp.build())), (Values{1, 2, 3, 8, 7, 6}));
  bmp.bits = 24, bmp.width = 1, bmp.pixels = {3, 2, 1, 0};
  EXPECT_EQ(samples(decode(bmp.build())), (Values{1, 2, 3}));
}

// ---- lenient ------------------------------------------------------------------------------------------

TEST(Bmp, TruncatedFileKeepsItsAlpha) {
  Bmp bmp;
  bmp.header_bytes = 108, bmp.width = 2, bmp.height = 2, bmp.bits = 32, bmp.compression = 3;
  bmp.masks = {0xFF0000, 0xFF00, 0xFF, 0xFF000000};
  bmp.pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  FileBytes file = bmp.build();
  EXPECT_EQ(samples(decode(file)), (Values{11, 10, 9, 12, 15, 14, 13, 16, 3, 2, 1, 4, 7, 6, 5, 8}));
  file.pop_back();
  EXPECT_EQ(failure(file), "bmp: the file is truncated");
  EXPECT_EQ(samples(decode(file, lenient())),
            (Values{11, 10, 9, 12, 128, 128, 128, 255, 3, 2, 1, 4, 7, 6, 5, 8}));
  EXPECT_EQ(warnings(file), (std::vector<std::string>{"damaged bmp: 1 pixels are missing"}));
}

// If header and palette are complete, missing pixels are mid-grey, not a colour of the palette.
TEST(Bmp, TruncationAtEveryByte) {
  for (const int bits : {1, 4, 8, 16, 24, 32}) {
    SCOPED_TRACE(bits);
    Bmp bmp;
    bmp.width = 5, bmp.height = 3, bmp.bits = bits;
    if (bits <= 8) bmp.palette = palette_bytes(1 << bits, 4);
    bmp.pixels.assign(static_cast<std::size_t>((5 * bits + 31) / 32 * 4 * 3), 0);
    const FileBytes whole = bmp.build();
    const Values complete = samples(decode(whole));
    const std::size_t head = whole.size() - bmp.pixels.size();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const FileBytes part = cut(whole, size);
      EXPECT_NE(failure(part), "") << size;
      if (size < head) {
        EXPECT_NE(failure(part, lenient()), "") << size;
        continue;
      }
      EXPECT_EQ(warnings(part).size(), 1U) << size;
      const Values got = samples(decode(part, lenient()));
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t row = 2 - i / 15;
        const std::size_t end_bit = (i % 15 / 3 + 1) * static_cast<std::size_t>(bits);
        const std::size_t end = head + row * bmp.pixels.size() / 3 + (end_bit + 7) / 8;
        ASSERT_EQ(got[i], end <= size ? complete[i] : 128) << "cut to " << size << ", sample " << i;
      }
    }
  }
}

TEST(Bmp, ChangedBytesAreHandledSafely) {
  expect_stable_when_damaged(two_colors().build());
  Bmp bmp;
  bmp.header_bytes = 124, bmp.compression = 3, bmp.bits = 32, bmp.pixels = {1, 2, 3, 4};
  bmp.masks = {0xFF0000, 0xFF00, 0xFF, 0xFF000000};
  expect_stable_when_damaged(bmp.build());
}

TEST(Bmp, LenientAcceptsUnambiguousErrors) {
  Bmp bmp = two_colors();
  bmp.planes = 3, bmp.colors = 9, bmp.pixels = {1, 2, 0, 0};
  EXPECT_EQ(samples(decode(bmp.build(), lenient())), (Values{8, 7, 6, 128, 128, 128}));
  EXPECT_EQ(
      warnings(bmp.build()),
      (std::vector<std::string>{"damaged bmp: 3 planes instead of 1",
                                "damaged bmp: the header declares 9 colours, but the palette has space for 2",
                                "damaged bmp: 1 pixels have a colour that is not in the palette"}));
}

// ---- stb_image ----------------------------------------------------------------------------------------

TEST(Bmp, FilesThatStbMisreadsAreRejected) {
  DecodeOptions stb;
  stb.codec = CodecChoice::stb;
  EXPECT_EQ(samples(decode(two_colors().build(), stb)), (Values{1, 2, 3, 8, 7, 6}));
  Bmp bmp = two_colors();
  bmp.header_bytes = 12, bmp.palette = palette_bytes(2, 3);
  EXPECT_EQ(failure(bmp.build(), stb), "bmp: stb_image does not support OS/2 headers");
  bmp = two_colors();
  bmp.compression = 1;
  EXPECT_EQ(failure(bmp.build(), stb), "bmp: stb_image does not support RLE compression");
  bmp = two_colors();
  bmp.header_bytes = 56;
  EXPECT_EQ(failure(bmp.build(), stb), "bmp: stb_image misreads the masks of a 56-byte header");
  // With --lenient, missing pixels would be filled with a value that is the index of a colour.
  bmp = two_colors();
  bmp.pixels.pop_back();
  stb.accept = Acceptance::lenient;
  EXPECT_EQ(failure(bmp.build(), stb), "bmp: the file is truncated");
}

// ---- real files ---------------------------------------------------------------------------------------

TEST(BmpCorpus, RealFilesHaveTheRightColours) {
  IMGPIPE_NEED_CORPUS();
  const auto found = [](const char* name) { return load(*corpus() / "found" / name); };
  EXPECT_EQ(first_difference(decode(load(*corpus() / "other/bmp_reference_png/pal8.png")).view(),
                             decode(found("pal8os2sp.bmp")).view()),
            "");
  // Rows of 01010101, palette 0B3C64 309799 as blue, green, red.
  const Image one_bit = decode(found("os2_1.bmp"));
  for (int i = 0; i < 32; ++i) {
    const Values color = i % 2 == 0 ? Values{0x64, 0x3C, 0x0B} : Values{0x99, 0x97, 0x30};
    for (int c = 0; c < 3; ++c) EXPECT_EQ(one_bit.view().data[3 * i + c], color[static_cast<std::size_t>(c)]);
  }
  // Each row has every index once, so the image shows the palette as stored.
  for (const auto& [name, colors] : {std::pair{"os2_4.bmp", 16}, std::pair{"os2_8.bmp", 256}}) {
    const FileBytes file = found(name);
    const Image image = decode(file);
    ASSERT_EQ(image.shape(), (Shape{colors, 4, 3}));
    for (int i = 0; i < colors * 4; ++i) {
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(image.view().data[3 * i + c],
                  std::to_integer<int>(file[static_cast<std::size_t>(26 + i % colors * 3 + 2 - c)]));
      }
    }
  }
  EXPECT_EQ(failure(found("im_os2.bmp")), "");
}

}  // namespace
}  // namespace imgpipe::test::bmp_test

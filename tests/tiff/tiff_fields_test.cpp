// The fields of TIFF: unsupported ones are named, invalid ones are refused, pages are found.
#include <algorithm>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/error.h"
#include "images/image.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_fields_test {
namespace {

TEST(TiffFields, UnsupportedFieldsAreNamed) {
  struct Refusal {
    int tag;
    std::uint64_t value;
    const char* reason;
  };
  for (const Refusal& one : {Refusal{258, 32, "32-bit unsigned"},
                             {258, 24, "24 bits"},
                             {258, 64, "64 bits"},
                             {258, 0, "0 bits"},
                             {339, 2, "signed"},
                             {339, 3, "floating-point"},
                             {339, 5, "complex"},
                             {339, 6, "complex"},
                             {262, 4, "masks"},
                             {262, 8, "Lab"},
                             {262, 32803, "colour filter"},
                             {262, 32844, "LogL"},
                             {262, 32845, "LogLuv"},
                             {262, 34892, "linear raw"},
                             {262, 6, "too few samples"},
                             {262, 2, "too few samples"},
                             {262, 99, "photometric interpretation 99"},
                             {259, 6, "old-style"},
                             {259, 34712, "JPEG 2000"},
                             {259, 34925, "LZMA"},
                             {259, 34887, "LERC"},
                             {259, 50001, "WebP"},
                             {259, 34661, "JBIG"},
                             {259, 12345, "compression 12345"},
                             {317, 3, "floating-point"},
                             {317, 9, "predictor"},
                             {266, 3, "bit order"},
                             {284, 3, "planar"},
                             {277, 0, "1 to 64 samples"},
                             {277, 65, "1 to 64 samples"},
                             {278, 0, "strips without rows"}}) {
    MadeTiff made(4, 3);
    made.set(one.tag, {one.value}, 4);
    EXPECT_NE(failure(made.build()).find(one.reason), std::string::npos)
        << one.tag << "=" << one.value << ": " << failure(made.build());
  }
  EXPECT_EQ(failure(MadeTiff(4, 3).build()), "");
}

TEST(TiffFields, RawPhotographsAreRejected) {
  MadeTiff dng(4, 3);
  dng.set(50706, {1, 4, 0, 0}, 1);
  EXPECT_NE(failure(dng.build()).find("raw photographs"), std::string::npos);
  MadeTiff preview(4, 3);
  preview.set(254, {1}, 4);
  EXPECT_EQ(failure(preview.build()), "");
  preview.set(330, {100}, 4);
  EXPECT_NE(failure(preview.build()).find("raw photographs"), std::string::npos);
}

TEST(TiffFields, EveryIntegerTypeInClassicAndBigTiff) {
  for (const bool big : {false, true}) {
    for (const int type : {1, 3, 4, 16}) {
      MadeTiff made(4, 3);
      made.big = big;
      for (auto& [tag, field] : made.fields) field.type = type;
      made.set(273, {big ? 16U : 8U}, type);
      const FileBytes file = made.build();
      ASSERT_EQ(failure(file), "") << big << type;
      EXPECT_EQ(samples(decode(file)), (Values{0, 7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77}));
    }
  }
}

TEST(TiffFields, MissingAndWrongFields) {
  for (const int tag : {256, 257, 262, 273, 279}) {
    MadeTiff made(4, 3);
    made.fields.erase(tag);
    EXPECT_NE(failure(made.build()), "") << tag;
  }
  for (const int tag : {258, 259, 277, 278}) {  // these have other values
    MadeTiff made(4, 3);
    made.fields.erase(tag);
    EXPECT_EQ(failure(made.build()), tag == 258 ? failure(made.build()) : "") << tag;
  }
  MadeTiff twice(4, 3);
  twice.more_fields.emplace_back(257, MadeTiff::Field{3, {2}});
  EXPECT_NE(failure(twice.build()).find("duplicate"), std::string::npos);
  DecodeOptions lenient_options;
  lenient_options.accept = Acceptance::lenient;
  EXPECT_EQ(open_reader(twice.build(), lenient_options)->header().shape.height, 3);
  MadeTiff many(4, 3);
  many.set(278, {1});
  EXPECT_NE(failure(many.build()).find("too few strips"), std::string::npos);
  MadeTiff palette(4, 3);
  palette.set(262, {3});
  EXPECT_NE(failure(palette.build()).find("palette"), std::string::npos);
  palette.set(320, {1, 2, 3});
  EXPECT_NE(failure(palette.build()).find("palette"), std::string::npos);
}

// A colour map with 8-bit values.
TEST(TiffFields, PaletteOfEightBits) {
  MadeTiff made(2, 1);
  made.set(258, {1});
  made.set(262, {3});
  made.set(320, {10, 20, 30, 40, 50, 255});
  made.pixels[0] = std::byte{0x40};
  EXPECT_EQ(samples(decode(made.build())), (Values{10, 30, 50, 20, 40, 255}));
}

TEST(TiffFields, PagesAreCountedAndSelected) {
  MadeTiff first(4, 3);
  FileBytes file = first.build();
  MadeTiff second(2, 2);
  // The second directory follows the first file and uses its pixels.
  const std::size_t at = file.size();
  const FileBytes other = second.build();
  const std::size_t directory = 8 + second.pixels.size();
  file.insert(file.end(), other.begin() + static_cast<std::ptrdiff_t>(directory), other.end());
  first.next = at;
  const FileBytes front = first.build();
  std::copy(front.begin(), front.end(), file.begin());
  const auto reader = open_reader(file);
  EXPECT_TRUE(reader->header().more_images);
  EXPECT_EQ(reader->header().shape.width, 4);
  const auto next = open_tiff_page(file, {}, 1);
  EXPECT_EQ(next->header().shape.width, 2);
  EXPECT_FALSE(next->header().more_images);
  EXPECT_THROW((void)open_tiff_page(file, {}, 2), Error);
}

}  // namespace
}  // namespace imgpipe::test::tiff_fields_test

// --accept pillow: JPEG files that Pillow 13.0.0 accepts or rejects, and its pixels. The expected results are
// those of Pillow; tests/peers/pillow_decoding.py compares many more files with it.
#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "images/synth.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/jpeg_file.h"

namespace imgpipe::test::pillow_jpeg_test {
namespace {

Decoded as_pillow(const Bytes& file) {
  DecodeOptions options;
  options.accept = Acceptance::pillow;
  return try_decode(file, options);
}

Bytes made(const JpegKind& kind, std::int64_t width = 40, std::int64_t height = 33) {
  const Image pixels = synthesize(parse_pattern("photo"), {width, height, channels_of(kind)}, 3);
  return make_jpeg(kind, pixels.view());
}

Bytes inserted(const Bytes& file, std::ptrdiff_t at, const Bytes& more) {
  return Bytes(file.begin(), file.begin() + at) + more + Bytes(file.begin() + at, file.end());
}

TEST(PillowJpeg, EqualsStrictDecodingOfIntactFiles) {
  for (const bool progressive : {false, true}) {
    for (const int h : {1, 2}) {
      const Bytes file = made({.h = h, .v = h, .progressive = progressive});
      const Decoded strict = try_decode(file), got = as_pillow(file);
      ASSERT_EQ(got.reason, "");
      EXPECT_EQ(got.warnings, Strings());
      EXPECT_EQ(first_difference(strict.image.view(), got.image.view()), "");
    }
  }
}

// A sequential file needs no end marker if other bytes follow its pixels; a progressive one does.
TEST(PillowJpeg, EndMarker) {
  for (const bool progressive : {false, true}) {
    const Bytes file = made({.progressive = progressive});
    const Decoded without = as_pillow(cut(file, file.size() - 2) + Bytes(8));
    if (progressive) {
      EXPECT_EQ(without.reason, "JPEG: the file is truncated");
    } else {
      EXPECT_EQ(without.reason, "");
      EXPECT_EQ(without.warnings, Strings{"damaged JPEG: no end marker"});
      EXPECT_EQ(first_difference(try_decode(file).image.view(), without.image.view()), "");
    }
    for (std::size_t size = 0; size < file.size(); ++size)
      ASSERT_NE(as_pillow(cut(file, size)).reason, "") << size << ", progressive " << progressive;
  }
}

TEST(PillowJpeg, GarbageIsAWarning) {
  const Bytes file = made({});
  const Bytes garbage = bytes_of("garbage");
  const Decoded good = try_decode(file);
  const Bytes before_end = inserted(file, std::ssize(file) - 2, garbage);
  EXPECT_NE(try_decode(before_end).reason, "");
  const Decoded got = as_pillow(before_end);
  EXPECT_EQ(got.reason, "");
  EXPECT_EQ(got.warnings.size(), 1U);
  EXPECT_EQ(first_difference(good.image.view(), got.image.view()), "");
  EXPECT_EQ(as_pillow(inserted(file, 20, garbage)).reason, "") << "after the JFIF segment";
  EXPECT_EQ(as_pillow(file + garbage).warnings, Strings{"7 bytes follow the image"});
}

// An error after the last row counts only within the block of 64 KiB that holds the row.
TEST(PillowJpeg, BlocksOf64KiB) {
  const Bytes file = made({});
  const Bytes pixels = cut(file, file.size() - 2);
  const Bytes second_start = number(0xFFD8, 2);  // an error for libjpeg
  constexpr std::size_t kBlock = 65'536;
  const auto filled_to = [&](std::size_t size) { return pixels + Bytes(size - pixels.size()); };
  EXPECT_NE(as_pillow(filled_to(kBlock - 2) + second_start).reason, "");
  EXPECT_EQ(as_pillow(filled_to(kBlock - 1) + second_start).reason, "");
  EXPECT_EQ(as_pillow(filled_to(kBlock) + second_start).reason, "");
}

TEST(PillowJpeg, CmykIsAlwaysInverted) {
  const JpegKind kind{.in = JCS_CMYK, .stored = JCS_CMYK};
  JpegKind plain = kind;
  plain.adobe = false;
  const Decoded with = as_pillow(made(kind)), without = as_pillow(made(plain));
  EXPECT_EQ(without.reason, "");
  EXPECT_EQ(first_difference(with.image.view(), without.image.view()), "");
  EXPECT_NE(first_difference(try_decode(made(plain)).image.view(), without.image.view()), "");
}

// The checks of Pillow's Python code.
TEST(PillowJpeg, HeaderSegments) {
  const Bytes file = made({});
  const auto with = [&](unsigned marker, const Bytes& payload) {
    return as_pillow(inserted(file, 2,
                              number(0xFF00 | marker, 2) +
                                  number(static_cast<std::uint32_t>(payload.size()) + 2, 2) + payload))
        .reason;
  };
  EXPECT_EQ(with(0xE1, bytes_of("anything")), "");
  EXPECT_NE(with(0xE0, bytes_of("JFIF\0x")), "");
  EXPECT_NE(with(0xEE, bytes_of("Adobe")), "");
  EXPECT_NE(with(0xE2, bytes_of(std::string_view("ICC_PROFILE\0\1", 13))), "");
  EXPECT_NE(with(0xED, bytes_of(std::string_view("Photoshop 3.0\0"
                                                 "8BIM\4\4",
                                                 20))),
            "");
  EXPECT_NE(with(0x01, {}), "") << "no segment of a header";
  // A length below 2 is ignored.
  EXPECT_EQ(as_pillow(inserted(file, 2, bytes_of(std::string_view("\xFF\xE5\0\0", 4)))).reason, "");
}

// XMP counts if EXIF states no orientation.
TEST(PillowJpeg, OrientationInXmp) {
  const Bytes xmp = bytes_of(std::string_view("http://ns.adobe.com/xap/1.0/\0", 29)) +
                    bytes_of(
                        "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
                        "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description "
                        "xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" tiff:Orientation=\"6\"/>"
                        "</rdf:RDF></x:xmpmeta>");
  const Bytes segment = number(0xFFE1, 2) + number(static_cast<std::uint32_t>(xmp.size()) + 2, 2) + xmp;
  const Bytes upright = inserted(made({}), 2, segment),
              turned = inserted(made({.orientation = 3}), 2, segment);
  EXPECT_EQ(as_pillow(upright).header.orientation, Orientation::rotate_90);
  EXPECT_EQ(try_decode(upright).header.orientation, Orientation::upright);
  EXPECT_EQ(as_pillow(turned).header.orientation, Orientation::rotate_180);
}

}  // namespace
}  // namespace imgpipe::test::pillow_jpeg_test

// The contents of a PNG besides its image: bits, EXIF, profiles, frames, wrong checksums, trailing data.
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <png.h>

#include "images/codecs/file_details.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/png_parts.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::png_facts_test {
namespace {

Bytes signature() {
  return bytes_of("\x89PNG\r\n\x1A\n");
}

// A PNG of 4 columns and 2 rows of zeros, of any colour type and depth.
struct Small {
  unsigned depth = 8;
  unsigned color_type = 0;
  unsigned channels = 1;
  Bytes before, after;  // chunks around the pixels

  [[nodiscard]] Bytes head() const {
    return signature() +
           chunk("IHDR", number(4) + number(2) + number(depth, 1) + number(color_type, 1) + number(0, 3));
  }
  [[nodiscard]] Bytes stream() const { return deflated(Bytes(2 * (1 + (4 * channels * depth + 7) / 8))); }
  [[nodiscard]] Bytes file() const {
    return head() + before + chunk("IDAT", stream()) + after + chunk("IEND", {});
  }
};

TEST(PngFacts, ReportsBitsPerSample) {
  const Bytes palette = chunk("PLTE", Bytes(6));
  for (const unsigned depth : {1U, 2U, 4U, 8U}) {
    EXPECT_EQ(try_decode(Small{depth, 0, 1, {}, {}}.file()).header.bits_per_sample, static_cast<int>(depth));
    const Decoded indexed = try_decode(Small{depth, 3, 1, palette, {}}.file());
    EXPECT_EQ(indexed.reason, "");
    EXPECT_EQ(indexed.header.bits_per_sample, 8) << "the palette's";
  }
  for (const auto& [type, channels] : {std::pair{0U, 1U}, {2U, 3U}, {4U, 2U}, {6U, 4U}}) {
    EXPECT_EQ(try_decode(Small{8, type, channels, {}, {}}.file()).header.bits_per_sample, 8);
    EXPECT_EQ(try_decode(Small{16, type, channels, {}, {}}.file()).header.bits_per_sample, 16);
  }
  const Bytes significant = chunk("sBIT", number(10, 1));
  EXPECT_EQ(try_decode(Small{16, 0, 1, significant, {}}.file()).header.bits_per_sample, 16) << "as stored";
}

TEST(PngFacts, ExifBeforeOrAfterThePixels) {
  const Bytes exif = chunk("eXIf", turned_exif());
  for (const unsigned depth : {8U, 16U}) {
    const Decoded early = try_decode(Small{depth, 0, 1, exif, {}}.file());
    const Decoded late = try_decode(Small{depth, 0, 1, {}, exif}.file());
    EXPECT_EQ(early.header.orientation, Orientation::rotate_90);
    EXPECT_EQ(late.header.orientation, Orientation::rotate_90);
    EXPECT_EQ(late.image.shape(), (Shape{2, 4, 1}));
    EXPECT_EQ(late.reason, "");
  }
  Bytes wrong = exif;
  wrong.back() ^= std::byte{1};
  EXPECT_NE(try_decode(Small{8, 0, 1, {}, wrong}.file()).reason, "") << "its CRC is wrong";
  const Decoded lenient = decode_leniently(Small{8, 0, 1, {}, wrong}.file());
  EXPECT_EQ(lenient.header.orientation, Orientation::upright);
  EXPECT_EQ(lenient.warnings.size(), 1U);
}

TEST(PngFacts, Profiles) {
  const auto name_of = [](const Bytes& compressed) {
    const Bytes data = bytes_of(std::string_view("ICC profile\0\0", 13)) + compressed;
    const Decoded result = try_decode(Small{8, 2, 3, chunk("iCCP", data), {}}.file());
    EXPECT_EQ(result.reason, "");
    EXPECT_EQ(result.warnings, Strings());
    return result.header.profile;
  };
  EXPECT_EQ(name_of(deflated(adobe_profile())), "Adobe RGB (1998)");
  EXPECT_EQ(name_of(deflated(matrix_profile(kSrgbPrimaries, srgb_table(1024), text_description("x")))), "");
  EXPECT_EQ(name_of(bytes_of("no zlib stream")), "unnamed");
  EXPECT_EQ(name_of({}), "unnamed");
  Bytes cut = deflated(adobe_profile());
  cut.resize(cut.size() - 5);
  EXPECT_EQ(name_of(cut), "Adobe RGB (1998)") << "its checksum does not concern the image";
  const Bytes bomb = deflated(adobe_profile() + Bytes(64'000'000));
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(name_of(bomb), "Adobe RGB (1998)"); }), 1.0);
  EXPECT_EQ(try_decode(Small{8, 2, 3, chunk("iCCP", bytes_of("no zero")), {}}.file()).header.profile,
            "unnamed");
}

TEST(PngFacts, FurtherFramesAreReported) {
  const Bytes control = chunk("fcTL", number(0) + number(4) + number(2) + Bytes(14));
  const auto animation = [](unsigned frames) { return chunk("acTL", number(frames) + number(0)); };
  const auto more = [](const Bytes& before) {
    const Decoded result = try_decode(Small{8, 0, 1, before, {}}.file());
    EXPECT_EQ(result.reason, "");
    return result.header.more_images;
  };
  EXPECT_FALSE(more({}));
  EXPECT_FALSE(more(animation(1) + control)) << "the picture is the only frame";
  EXPECT_TRUE(more(animation(2) + control));
  EXPECT_TRUE(more(animation(1))) << "the picture is none of its frames";
}

// The facts that imgpipe info reports.
TEST(PngFacts, ImagesAreCountedAndPalettesReportTheirBits) {
  const Bytes control = chunk("fcTL", number(0) + number(4) + number(2) + Bytes(14));
  const auto images = [](const Bytes& before) {
    return describe_png(Small{8, 0, 1, before, {}}.file()).images;
  };
  EXPECT_EQ(images({}), 1);
  EXPECT_EQ(images(chunk("acTL", number(3) + number(0)) + control), 3);
  EXPECT_EQ(images(chunk("acTL", number(3) + number(0))), 4) << "the picture is none of the frames";
  EXPECT_EQ(images(chunk("acTL", number(0) + number(0))), 1);
  const Bytes palette = chunk("PLTE", Bytes(6));
  EXPECT_EQ(describe_png(Small{1, 3, 1, palette, {}}.file()).layout, "1 bit per pixel");
  EXPECT_EQ(describe_png(Small{4, 3, 1, palette, {}}.file()).layout, "4 bits per pixel");
  EXPECT_EQ(describe_png(Small{8, 2, 3, {}, {}}.file()).layout, "");
  EXPECT_EQ(describe_png(Small{1, 0, 1, {}, {}}.file()).color, "bilevel");
  EXPECT_EQ(describe_png(Small{2, 0, 1, {}, {}}.file()).color, "grey");
}

// The first of cICP, iCCP, sRGB and gAMA that is present applies, whatever the order of the chunks.
TEST(PngFacts, ColourSpaceComesFromTheChunks) {
  const auto said = [](const Bytes& before) {
    return describe_png(Small{8, 2, 3, before, {}}.file()).color_space;
  };
  const auto gamma = [](std::uint32_t value) { return chunk("gAMA", number(value)); };
  const Bytes srgb = chunk("sRGB", number(0, 1)),
              pq = chunk("cICP", bytes_of(std::string_view("\x9\x10\0\1", 4)));
  const Bytes profile =
      chunk("iCCP", bytes_of(std::string_view("ICC profile\0\0", 13)) + deflated(adobe_profile()));
  EXPECT_EQ(said({}), "");
  EXPECT_EQ(said(gamma(100'000)), "gamma 1");
  EXPECT_EQ(said(gamma(45'455)), "gamma 0.45455");
  EXPECT_EQ(said(gamma(50'000)), "gamma 0.5");
  EXPECT_EQ(said(gamma(1)), "gamma 0.00001");
  EXPECT_EQ(said(gamma(2'200'000)), "gamma 22");
  EXPECT_EQ(said(gamma(0)), "");
  EXPECT_EQ(said(chunk("gAMA", number(1, 2))), "");
  EXPECT_EQ(said(gamma(45'455) + chunk("cHRM", Bytes(32))), "gamma 0.45455, custom primaries (cHRM)");
  EXPECT_EQ(said(gamma(45'455) + srgb), "sRGB");
  EXPECT_EQ(said(gamma(45'455) + profile), "");
  EXPECT_EQ(said(profile + pq), "BT.2020 primaries, PQ (cICP 9, 16, 0, 1)");
  EXPECT_EQ(said(chunk("cICP", bytes_of("\x16\x03\x02\x01"))), "primaries 22, transfer 3 (cICP 22, 3, 2, 1)");
  Bytes damaged = srgb;
  damaged.back() ^= std::byte{1};
  EXPECT_EQ(said(damaged), "");
}

TEST(PngFacts, TrailingBytes) {
  for (const unsigned depth : {8U, 16U}) {
    const Bytes file = Small{depth, 0, 1, {}, {}}.file();
    const std::string two = std::to_string(file.size()) + " bytes follow the image (another image?)";
    const std::pair<Bytes, std::string> whole[] = {{file + bytes_of("x"), "1 byte follows the image"},
                                                   {file + Bytes(60'000), "60000 bytes follow the image"},
                                                   {file + file, two}};
    for (const auto& [one, warning] : whole) {
      for (const Decoded& decoded : {try_decode(one), decode_leniently(one)}) {
        EXPECT_EQ(decoded.reason, "");
        EXPECT_EQ(decoded.warnings, Strings{warning});
        EXPECT_EQ(first_difference(decoded.image.view(), try_decode(file).image.view()), "");
      }
    }
    // Data after the end does not replace missing data.
    for (const std::ptrdiff_t missing : {1, 4, 12, 20}) {
      const Bytes broken(file.begin(), file.end() - missing);
      EXPECT_NE(try_decode(broken + bytes_of("x")).reason, "") << missing;
      EXPECT_NE(try_decode(broken + file).reason, "") << missing;
    }
  }
}

// Each kind of wrong checksum, and a missing end: an error, or a warning with --lenient.
TEST(PngFacts, LenientWarnsAboutWrongChecksums) {
  const Small small{8, 2, 3, {}, {}};
  const Bytes good = small.file();
  const Decoded picture = decode_leniently(good);
  ASSERT_EQ(picture.warnings, Strings());
  const std::size_t idat_end = good.size() - 12;
  Bytes idat_crc = good;
  idat_crc[idat_end - 1] ^= std::byte{1};
  Bytes end_crc = good;
  end_crc.back() ^= std::byte{1};
  Bytes stream = small.stream();
  stream.back() ^= std::byte{1};
  const Bytes adler = small.head() + chunk("IDAT", stream) + chunk("IEND", {});
  stream = small.stream();
  stream.resize(stream.size() - 2);
  const Bytes cut_adler = small.head() + chunk("IDAT", stream) + chunk("IEND", {});
  const Bytes no_end(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(idat_end));
  const Bytes cut_end(good.begin(), good.end() - 2);
  Bytes text = chunk("tEXt", bytes_of(std::string_view("a\0b", 3)));
  text.back() ^= std::byte{1};
  const Bytes text_crc = Small{8, 2, 3, text, {}}.file();
  const std::pair<const char*, const Bytes&> rows[] = {{"CRC of IDAT", idat_crc}, {"CRC of IEND", end_crc},
                                                       {"Adler-32", adler},       {"cut Adler-32", cut_adler},
                                                       {"no IEND", no_end},       {"cut IEND", cut_end},
                                                       {"CRC of tEXt", text_crc}};
  for (const auto& [name, bad] : rows) {
    SCOPED_TRACE(name);
    EXPECT_NE(try_decode(bad).reason, "");
    const Decoded lenient = decode_leniently(bad);
    EXPECT_EQ(lenient.reason, "");
    ASSERT_EQ(lenient.warnings.size(), 1U);
    EXPECT_TRUE(lenient.warnings[0].starts_with("damaged PNG: ")) << lenient.warnings[0];
#ifndef PNG_IGNORE_ADLER32  // a build of libpng that loses the row which is decompressed last, as
                            // Ubuntu 24.04's
    if (name == std::string_view("Adler-32")) {
      EXPECT_EQ(first_difference(picture.image.view().rows(0, 1), lenient.image.view().rows(0, 1)), "");
      continue;
    }
#endif
    EXPECT_EQ(first_difference(picture.image.view(), lenient.image.view()), "");
  }
  EXPECT_EQ(decode_leniently(idat_crc).warnings, Strings{"damaged PNG: IDAT: CRC error (1 chunks)"});
}

// libpng does not inspect IDAT chunks that begin after the last pixel. Files of every kind behave alike, for
// our own reader (8 bits) and for libpng.
TEST(PngFacts, DataAfterACompleteImage) {
  for (const unsigned depth : {8U, 16U}) {
    const Small small{depth, 0, 1, {}, {}};
    const Bytes expected = chunk("IDAT", small.stream());
    EXPECT_EQ(
        try_decode(small.head() + expected + chunk("IDAT", bytes_of("more")) + chunk("IEND", {})).reason, "");
    EXPECT_EQ(try_decode(small.head() + expected + chunk("IDAT", {}) + chunk("IEND", {})).reason, "");
    EXPECT_NE(try_decode(small.head() + chunk("IDAT", small.stream() + bytes_of("more")) + chunk("IEND", {}))
                  .reason,
              "")
        << "in the chunk that holds the stream's end it does look";
    Bytes bent = chunk("IDAT", bytes_of("more"));
    bent.back() ^= std::byte{1};
    EXPECT_NE(try_decode(small.head() + expected + bent + chunk("IEND", {})).reason, "") << "a wrong CRC";
  }
}

}  // namespace
}  // namespace imgpipe::test::png_facts_test

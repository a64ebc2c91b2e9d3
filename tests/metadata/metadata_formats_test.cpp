// Metadata of BMP, TGA and Netpbm; orientation and resolution in XMP; misplaced metadata in EXIF.
#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "images/codecs/metadata/xmp.h"
#include "images/formats/preserved_metadata.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/metadata_files.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::metadata_formats_test {
namespace {

using namespace std::string_literals;

PreservedMetadata kept_of(const Bytes& file, Format output) {
  return keep_metadata(file, {.output = output, .shape = {16, 12, 3}});
}

Bytes little(std::uint32_t value, int bytes = 4) {
  Bytes made = number(value, bytes);
  std::ranges::reverse(made);
  return made;
}

// ---- BMP ----------------------------------------------------------------------------------------------

TEST(BmpMetadata, ResolutionRoundTrips) {
  const Resolution dpi{.x = 300, .y = 150, .unit = Resolution::Unit::inch};
  for (const int channels : {3, 4}) {
    for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
      Metadata given;
      given.resolution = dpi;
      EncodeOptions options;
      options.codec = codec;
      const auto file_of = [&] {
        const auto writer = make_writer(Format::bmp, {16, 12, channels}, options);
        Image image({16, 12, channels});
        std::ranges::fill(std::span(image.view().data, image.size_bytes()), Sample8{7});
        writer->write_rows(std::as_const(image).untyped_view());
        return writer->finish().joined();
      };
      const Bytes plain = file_of();
      options.metadata = std::make_shared<const Metadata>(given);
      const Bytes file = file_of();
      Bytes expected = plain;
      std::ranges::copy(little(11'811) + little(5'906), expected.begin() + 38);
      EXPECT_EQ(file, expected) << channels;
      for (const Format output : {Format::jpeg, Format::png, Format::tiff, Format::bmp}) {
        const PreservedMetadata kept = kept_of(file, output);
        ASSERT_TRUE(kept.metadata && kept.metadata->resolution);
        EXPECT_EQ(kept.metadata->resolution->per_inch(1000)->x, 300U);
        EXPECT_EQ(kept.metadata->resolution->per_inch(1000)->y, 150U);
        EXPECT_EQ(lost_metadata_text(kept.lost), "");
        const PreservedMetadata resized =
            keep_metadata(file, {.output = output, .shape = {8, 6, 3}, .scaled = true});
        EXPECT_FALSE(resized.metadata);
        EXPECT_EQ(lost_metadata_text(resized.lost), "resolution (resized)");
      }
      EXPECT_EQ(lost_metadata_text(kept_of(file, Format::tga).lost), "resolution (tga cannot store it)");
    }
  }
}

TEST(BmpMetadata, ProfilesInVersion5Headers) {
  const auto file = [](const char* kind, std::uint32_t bytes, const Bytes& profile) {
    Bytes made = encoded(Format::bmp, 3);
    const Bytes pixels(made.begin() + 54, made.end());
    made.resize(54);
    const auto put = [&](std::size_t at, const Bytes& value) {
      std::ranges::copy(value, made.begin() + static_cast<std::ptrdiff_t>(at));
    };
    made.resize(14 + 124);
    put(10, little(14 + 124)), put(14, little(124));
    put(70, bytes_of(kind)), put(126, little(124 + static_cast<std::uint32_t>(pixels.size()))),
        put(130, little(bytes));
    made = made + pixels + profile;
    put(2, little(static_cast<std::uint32_t>(made.size())));
    return made;
  };
  const Bytes profile = adobe_profile();
  const auto size = static_cast<std::uint32_t>(profile.size());
  const PreservedMetadata kept = kept_of(file("DEBM", size, profile), Format::png);
  ASSERT_TRUE(kept.metadata);
  EXPECT_EQ(kept.metadata->icc, profile);
  EXPECT_EQ(try_decode(file("DEBM", size, profile)).warnings, Strings());
  EXPECT_EQ(lost_metadata_text(kept_of(file("DEBM", size + 1, profile), Format::png).lost),
            "ICC profile (damaged or too long)");
  EXPECT_EQ(lost_metadata_text(kept_of(file("KNIL", 8, bytes_of("a.icc\0\0\0"s)), Format::png).lost),
            "ICC profile (in another file)");
}

// ---- TGA ----------------------------------------------------------------------------------------------

TEST(TgaMetadata, TextsArePreservedOrReported) {
  Bytes file = encoded(Format::tga);
  file[0] = std::byte{5};
  file.insert(file.begin() + 18, 5, std::byte{'i'});
  const PreservedMetadata plain = kept_of(file, Format::png);
  ASSERT_TRUE(plain.metadata);
  ASSERT_EQ(plain.metadata->texts.size(), 1U);
  EXPECT_EQ(plain.metadata->texts[0].text, "iiiii");
  EXPECT_TRUE(plain.metadata->texts[0].is_comment());
  EXPECT_EQ(lost_metadata_text(kept_of(file, Format::tga).lost), "comment (tga cannot store it)");

  Bytes extension(495);
  const auto put = [&](std::size_t at, const std::string& text) {
    std::ranges::copy(bytes_of(text), extension.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, "\xEF\1"s), put(2, "Ann"), put(43, "one "), put(43 + 2 * 81, "three");
  const auto at = static_cast<std::uint32_t>(file.size());
  const auto whole = [&](std::uint32_t developer = 0) {
    return file + extension + little(at) + little(developer) + bytes_of("TRUEVISION-XFILE.\0"s);
  };
  const PreservedMetadata kept = kept_of(whole(), Format::png);
  ASSERT_EQ(kept.metadata->texts.size(), 3U);
  EXPECT_EQ(kept.metadata->texts[1].keyword, "Author");
  EXPECT_EQ(kept.metadata->texts[1].text, "Ann");
  EXPECT_EQ(kept.metadata->texts[2].text, "one\nthree");
  EXPECT_EQ(lost_metadata_text(kept.lost), "");
  const PreservedMetadata jpeg = kept_of(whole(), Format::jpeg);
  EXPECT_EQ(read_exif(jpeg.metadata->exif).image.at(0x013B).values, exif_text("Ann").values);
  EXPECT_EQ(jpeg.metadata->texts.size(), 2U);
  put(367, "\1"), put(379, "job"), put(486, "\x40");
  EXPECT_EQ(lost_metadata_text(kept_of(whole(18), Format::png).lost),
            "TGA developer area, TGA date, TGA job name and time, TGA postage stamp");
}

TEST(TgaMetadata, MarkIsNotAComment) {
  EXPECT_FALSE(kept_of(file_with(Format::tga, {}, {16, 12, 3}), Format::png).metadata);
}

// ---- Netpbm -------------------------------------------------------------------------------------------

TEST(NetpbmMetadata, HeaderCommentsAreJoined) {
  const struct {
    const char* file;
    const char* comment;
  } rows[] = {{"P5\n# by hand\n2 1\n255\nab", "by hand"},
              {"P5 #one\r2#two 7\n 1\n#\n  # three \n255\nab", "one\ntwo 7\nthree"},
              {"P5 2 1 255#four\nab", "four"},
              {"P4#of bits\n8 1\nz", "of bits"},
              {"P4 8 1\n#", nullptr},
              {"P5 2 1 255\n##", nullptr},
              {"P2 2 1 255\n1 2\n# after\n", nullptr},
              {"P5\n# imgpipe\n2 1\n255\nab", nullptr},
              {"P5\n# imgpipe synth\n# ramp\n2 1\n255\nab", "ramp"}};
  for (const auto& row : rows) {
    const Bytes file = bytes_of(row.file);
    ASSERT_EQ(try_decode(file).reason, "") << row.file;
    const PreservedMetadata kept = keep_metadata(file, {.output = Format::jpeg, .shape = {2, 1, 1}});
    ASSERT_EQ(kept.metadata != nullptr, row.comment != nullptr) << row.file;
    if (row.comment == nullptr) continue;
    ASSERT_EQ(kept.metadata->texts.size(), 1U);
    EXPECT_EQ(kept.metadata->texts[0].text, row.comment);
    EXPECT_EQ(lost_metadata_text(keep_metadata(file, {.output = Format::pgm, .shape = {2, 1, 1}}).lost),
              "comment (pgm cannot store it)");
  }
  EXPECT_FALSE(kept_of(file_with(Format::ppm, {}, {16, 12, 3}), Format::png).metadata);
}

// ---- XMP ----------------------------------------------------------------------------------------------

Bytes png_with(const std::string& inside, const Bytes& exif = {}) {
  Metadata given;
  given.xmp = bytes_of(xmp_packet(inside));
  given.exif = exif;
  return file_with(Format::png, given, {4, 2, 3});
}

Bytes exif_saying(std::uint32_t orientation) {
  ExifParts parts;
  parts.image = {{0x0112, {3, {orientation}}}};
  return parts.build();
}

TEST(XmpOrientation, AppliesToAPngWithoutExifOrientation) {
  const auto turned = [](const Bytes& file) { return try_decode(file).header.orientation; };
  for (const char* inside :
       {"<rdf:Description tiff:Orientation='6'/>", "<rdf:Description tiff:Orientation = \"6\"/>",
        "<rdf:Description><tiff:Orientation>6</tiff:Orientation></rdf:Description>"}) {
    EXPECT_EQ(turned(png_with(inside)), Orientation::rotate_90) << inside;
    EXPECT_EQ(try_decode(png_with(inside)).image.shape().width, 2) << inside;
    const PreservedMetadata kept = keep_metadata(
        png_with(inside), {.output = Format::png, .shape = {2, 4, 3}, .applied = Orientation::rotate_90});
    EXPECT_EQ(turned(file_with(Format::png, *kept.metadata)), Orientation::upright) << "turned once";
    EXPECT_EQ(turned(png_with(inside, exif_saying(1))), Orientation::upright) << inside;
    EXPECT_EQ(turned(png_with(inside, exif_saying(3))), Orientation::rotate_180) << inside;
    ExifParts maker;
    maker.image = {{0x010F, exif_text("Maker")}};
    EXPECT_EQ(turned(png_with(inside, maker.build())), Orientation::rotate_90) << inside;
    Metadata given;
    given.xmp = bytes_of(xmp_packet(inside));
    for (const Format other : {Format::jpeg, Format::webp, Format::tiff})
      EXPECT_EQ(turned(file_with(other, given)), Orientation::upright) << format_info(other).name;
  }
  for (const char* inside :
       {"<rdf:Description tiff:Orientation='0'/>", "<rdf:Description tiff:Orientation='16'/>",
        "<rdf:Description tiff:Orientation='9'/>", "<rdf:Description tiff:Orientation='6'>",
        "<rdf:Description tiff:Orientations='6'/>", "<rdf:Description/>"})
    EXPECT_EQ(turned(png_with(inside)), Orientation::upright) << inside;
}

TEST(XmpResolution, DoesNotContradictTheResult) {
  const std::string rest = "<rdf:Description xmp:Rating='3'";
  const std::string attributes =
      rest + " tiff:XResolution='300/1' tiff:YResolution='300/1' tiff:ResolutionUnit='2'/>";
  const std::string elements =
      rest +
      "><tiff:XResolution>300/1</tiff:XResolution><tiff:YResolution>300/1"
      "</tiff:YResolution><tiff:ResolutionUnit>2</tiff:ResolutionUnit></rdf:Description>";
  for (const bool in_file : {false, true}) {
    for (const auto& [inside, without] :
         {std::pair{attributes, rest + "/>"}, {elements, rest + "></rdf:Description>"}}) {
      Metadata given;
      given.xmp = bytes_of(xmp_packet(inside));
      if (in_file) given.resolution = Resolution{.x = 300, .y = 300, .unit = Resolution::Unit::inch};
      for (const Format output : kHolders) {
        const Bytes file = file_with(Format::jpeg, given);
        const PreservedMetadata same = keep_metadata(file, {.output = output, .shape = {17, 11, 3}});
        EXPECT_EQ(text_of(same.metadata->xmp), xmp_packet(inside));
        const PreservedMetadata resized =
            keep_metadata(file, {.output = output, .shape = {17, 11, 3}, .scaled = true});
        EXPECT_EQ(text_of(resized.metadata->xmp), xmp_packet(without));
        EXPECT_EQ(lost_metadata_text(resized.lost), "resolution (resized)");
      }
      given.resolution = Resolution{.x = 300, .y = 150, .unit = Resolution::Unit::inch};
      const PreservedMetadata turned =
          keep_metadata(file_with(Format::jpeg, given),
                        {.output = Format::png, .shape = {11, 17, 3}, .applied = Orientation::rotate_90});
      EXPECT_EQ(text_of(turned.metadata->xmp), xmp_packet(without)) << "its sides are exchanged";
    }
  }
}

TEST(FormatMetadata, DamagedFilesAreSearchedSafely) {
  const Bytes extension = little(495, 2) + Bytes(493, std::byte{'a'});
  const Bytes tga = encoded(Format::tga);
  const Bytes files[] = {
      encoded(Format::bmp), bytes_of("P6\n# a\n#b\n2 1 # c\n255\nabcdef"),
      tga + extension + little(static_cast<std::uint32_t>(tga.size())) + little(18) +
          bytes_of("TRUEVISION-XFILE.\0"s),
      png_with("<rdf:Description tiff:Orientation='6' tiff:XResolution='3'/>", exif_saying(9))};
  const ImageChanges use{.output = Format::png, .shape = {16, 12, 3}, .scaled = true};
  std::mt19937_64 random(3);
  for (const Bytes& file : files) {
    for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
      const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
      EXPECT_NO_THROW((void)keep_metadata(cut, use)) << bytes;
      EXPECT_NO_THROW((void)try_decode(cut)) << bytes;
    }
    for (int i = 0; i < 3000; ++i) {
      Bytes bent = file;
      for (int k = 0; k < 3; ++k) bent[random() % bent.size()] = static_cast<std::byte>(random());
      const PreservedMetadata kept = keep_metadata(bent, use);
      EXPECT_EQ(try_decode(file_with(Format::png, kept.metadata ? *kept.metadata : Metadata{})).reason, "");
    }
  }
}

// ---- EXIF ---------------------------------------------------------------------------------------------

TEST(ExifCopies, MisplacedMetadataIsReported) {
  ExifParts parts;
  const ExifField bytes{.type = 1, .values = {1, 2, 3, 4, 5}};
  parts.image = {{0x010F, exif_text("Maker")}, {0x02BC, bytes}, {0x83BB, bytes}, {0x8773, bytes}};
  Metadata given;
  given.exif = parts.build();
  const Bytes iptc = bytes_of("\x1C\2\x19\0\1a"s);
  for (const Format output : kHolders)
    EXPECT_EQ(lost_metadata_text(kept_of(file_with(Format::jpeg, given), output).lost),
              "IPTC (in EXIF), XMP (in EXIF), ICC profile (in EXIF)");
  given.iptc = iptc;
  given.xmp = bytes_of(xmp_packet("<rdf:Description/>"));
  given.icc = adobe_profile();
  EXPECT_EQ(lost_metadata_text(kept_of(file_with(Format::jpeg, given), Format::jpeg).lost), "");
}

}  // namespace
}  // namespace imgpipe::test::metadata_formats_test

// IPTC, comments, texts and gain maps: found by readers, stored by writers, and reported if lost.
#include <algorithm>

#include <gtest/gtest.h>

#include "images/codecs/mark.h"
#include "images/codecs/metadata/iptc.h"
#include "images/error.h"
#include "images/formats/preserved_metadata.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/metadata_files.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::metadata_texts_test {
namespace {

Bytes iptc_datasets(std::size_t bytes = 3) {
  Bytes made = bytes_of(std::string_view("\x1C\x02\x19", 3)) + number(static_cast<std::uint32_t>(bytes), 2);
  for (std::size_t i = 0; i < bytes; ++i) made.push_back(static_cast<std::byte>('a' + i % 26));
  return made;
}

MetadataText comment_of(const std::string& text, bool latin1 = false) {
  return {.text = text, .latin1 = latin1};
}

TEST(MetadataTexts, IptcRoundTripsInEveryFormatThatStoresIt) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}, std::size_t{32'767}}) {
    Metadata given;
    for (int i = 0; i < 5; ++i) given.iptc = given.iptc + iptc_datasets(bytes);  // several APP13 segments
    for (const Format format : {Format::jpeg, Format::png, Format::tiff}) {
      const Bytes file = file_with(format, given);
      EXPECT_EQ(find_mark(std::span(file).first(std::min(file.size(), kMarkBytes))), Mark::result);
      for (const Format output : {Format::jpeg, Format::png, Format::tiff}) {
        const PreservedMetadata kept = keep_metadata(file, {.output = output, .shape = {17, 11, 3}});
        ASSERT_TRUE(kept.metadata) << format_info(format).name << bytes;
        EXPECT_EQ(kept.metadata->iptc, given.iptc) << format_info(format).name << bytes;
        EXPECT_EQ(lost_metadata_text(kept.lost), "");
      }
      const PreservedMetadata webp = keep_metadata(file, {.output = Format::webp, .shape = {17, 11, 3}});
      EXPECT_EQ(lost_metadata_text(webp.lost), "IPTC (webp cannot store it)");
    }
  }
}

TEST(MetadataTexts, DamagedIptcIsReported) {
  const Bytes good = iptc_datasets();
  EXPECT_EQ(checked_iptc(good + Bytes(3)).size(), good.size());
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_THROW((void)checked_iptc(std::span(good).first(bytes)), Error) << bytes;
  EXPECT_THROW((void)checked_iptc(good + bytes_of("x")), Error);
  Metadata given;
  given.iptc = good;
  given.iptc.pop_back();
  const PreservedMetadata kept =
      keep_metadata(file_with(Format::jpeg, given), {.output = Format::jpeg, .shape = {17, 11, 3}});
  EXPECT_FALSE(kept.metadata);
  EXPECT_EQ(lost_metadata_text(kept.lost), "IPTC (damaged: a dataset is truncated)");
}

TEST(MetadataTexts, CommentsArePreservedAlongsideTheMark) {
  Metadata given;
  given.texts = {comment_of("first"), comment_of("caf\xC3\xA9", true), comment_of("imgpipe is fine")};
  for (const Format format : {Format::jpeg, Format::png}) {
    const Bytes file = file_with(format, given);
    EXPECT_EQ(find_mark(std::span(file).first(std::min(file.size(), kMarkBytes))), Mark::result);
    const PreservedMetadata kept = keep_metadata(file, {.output = Format::jpeg, .shape = {17, 11, 3}});
    ASSERT_TRUE(kept.metadata);
    ASSERT_EQ(kept.metadata->texts.size(), 3U) << "the mark is not a comment";
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(kept.metadata->texts[i].text, given.texts[i].text);
    const PreservedMetadata tiff = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
    EXPECT_EQ(lost_metadata_text(tiff.lost), "comments (tiff cannot store it)");
  }
  const Bytes file = file_with(Format::jpeg, given);
  EXPECT_NE(text_of(file).find("caf\xE9"), std::string::npos) << "byte for byte";
}

TEST(MetadataTexts, CommentEqualToTheMarkIsNotWritten) {
  Metadata given;
  given.texts = {comment_of("imgpipe"), {.keyword = "Software", .text = "imgpipe"}};
  EncodeOptions options;
  options.metadata = std::make_shared<const Metadata>(given);
  const std::unique_ptr<Writer> writer = make_writer(Format::png, {1, 1, 3}, options);
  const Image pixel({1, 1, 3});
  writer->write_rows(pixel.untyped_view());
  const Bytes file = writer->finish().joined();
  const PreservedMetadata png = keep_metadata(file, {.output = Format::png, .shape = {1, 1, 3}});
  ASSERT_TRUE(png.metadata);
  ASSERT_EQ(png.metadata->texts.size(), 1U);
  EXPECT_TRUE(png.metadata->texts[0].is_comment());
  const PreservedMetadata jpeg = keep_metadata(file, {.output = Format::jpeg, .shape = {1, 1, 3}});
  EXPECT_FALSE(jpeg.metadata);
  EXPECT_EQ(lost_metadata_text(jpeg.lost), "comment (looks like imgpipe's mark)");
}

TEST(MetadataTexts, PngTextsArePreservedVerbatim) {
  Metadata given;
  given.texts = {{.keyword = "Title", .text = "caf\xC3\xA9"},
                 {.keyword = "Author",
                  .text = "\xE5\xB1\xB1",
                  .international = true,
                  .language = "ja",
                  .translated_keyword = "\xE4\xBD\x9C"},
                 {.keyword = "Description", .text = std::string(5000, 'x')},
                 {.keyword = "Description", .text = std::string(5000, 'y'), .international = true},
                 {.keyword = "Software", .text = "another"},
                 {.keyword = "Empty", .text = ""}};
  const Bytes file = file_with(Format::png, given);
  EXPECT_EQ(find_mark(std::span(file).first(std::min(file.size(), kMarkBytes))), Mark::result);
  EXPECT_EQ(try_decode(file).reason, "");
  const PreservedMetadata kept = keep_metadata(file, {.output = Format::png, .shape = {17, 11, 3}});
  ASSERT_TRUE(kept.metadata);
  ASSERT_EQ(kept.metadata->texts.size(), given.texts.size());
  for (std::size_t i = 0; i < given.texts.size(); ++i) {
    const MetadataText &made = kept.metadata->texts[i], &text = given.texts[i];
    EXPECT_EQ(made.keyword, text.keyword);
    EXPECT_EQ(made.text, text.text);
    EXPECT_EQ(made.language, text.language);
    EXPECT_EQ(made.translated_keyword, text.translated_keyword);
    EXPECT_EQ(made.international, text.international);
  }
  for (const Format format : {Format::jpeg, Format::tiff, Format::webp}) {
    const PreservedMetadata other = keep_metadata(file, {.output = format, .shape = {17, 11, 3}});
    ASSERT_TRUE(other.metadata);
    const ExifFields fields = read_exif(other.metadata->exif).image;
    EXPECT_EQ(fields.at(270).values.size(), 5001U);
    EXPECT_EQ(fields.at(315).values.size(), 4U);
    EXPECT_EQ(fields.contains(305), format != Format::tiff);
    EXPECT_NE(lost_metadata_text(other.lost).find("text \"Title\", \"Description\""), std::string::npos);
  }
}

TEST(MetadataTexts, GainMapIsReportedAndItsXmpRemoved) {
  const std::string hdr =
      "<rdf:Description xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/' "
      "xmlns:Container=\"http://ns.google.com/photos/1.0/container/\" "
      "xmlns:Item='http://ns.google.com/photos/1.0/container/item/' dc:format='a' hdrgm:Version=\"1.0\">"
      "<dc:title>b</dc:title><Container:Directory><rdf:Seq><rdf:li rdf:parseType='Resource'>"
      "<Container:Item Item:Semantic='Primary'/></rdf:li><rdf:li rdf:parseType='Resource'>"
      "<Container:Item Item:Semantic='GainMap' Item:Length='99'/></rdf:li></rdf:Seq></Container:Directory>"
      "<hdrgm:GainMapMax><rdf:Seq><rdf:li>1</rdf:li></rdf:Seq></hdrgm:GainMapMax></rdf:Description>";
  Metadata given;
  given.xmp = bytes_of(xmp_packet(hdr));
  for (const Format format : kHolders) {
    const PreservedMetadata kept =
        keep_metadata(file_with(format, given), {.output = format, .shape = {17, 11, 3}});
    ASSERT_TRUE(kept.metadata);
    EXPECT_EQ(text_of(kept.metadata->xmp),
              xmp_packet("<rdf:Description dc:format='a'><dc:title>b</dc:title></rdf:Description>"));
    EXPECT_EQ(lost_metadata_text(kept.lost), "HDR gain map") << format_info(format).name;
  }
  const PreservedMetadata bmp =
      keep_metadata(file_with(Format::jpeg, given), {.output = Format::bmp, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(bmp.lost), "HDR gain map, XMP (bmp cannot store it)");
  // A prefix with two meanings.
  given.xmp =
      bytes_of(xmp_packet("<a xmlns:h='http://ns.adobe.com/hdr-gain-map/1.0/'/><b xmlns:h='x' h:c='1'/>"));
  const PreservedMetadata unsafe =
      keep_metadata(file_with(Format::png, given), {.output = Format::png, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(unsafe.lost), "XMP (references to appended files cannot be removed)");
}

TEST(MetadataTexts, UnreadSegmentsAreReported) {
  const auto segment = [](int marker, std::string_view payload) {
    return number(static_cast<std::uint32_t>(0xFF00 + marker), 2) +
           number(static_cast<std::uint32_t>(payload.size() + 2), 2) + bytes_of(payload);
  };
  using namespace std::string_view_literals;
  const Bytes plain = file_with(Format::jpeg, {});
  const auto lost = [&](const Bytes& inserted) {
    Bytes file(plain.begin(), plain.begin() + 20);
    file = file + inserted + Bytes(plain.begin() + 20, plain.end());
    return lost_metadata_text(keep_metadata(file, {.output = Format::jpeg, .shape = {17, 11, 3}}).lost);
  };
  EXPECT_EQ(lost({}), "");
  EXPECT_EQ(lost(segment(0xE0, "JFXX\0\x13"sv)), "JFXX thumbnail");
  EXPECT_EQ(lost(segment(0xE2, "FPXR\0a"sv)), "FlashPix");
  EXPECT_EQ(lost(segment(0xE2, "MPF\0a"sv)), "MPF images");
  EXPECT_EQ(lost(segment(0xE2, "MPF\0a"sv) + segment(0xE2, "urn:iso:std:iso:ts:21496:-1\0a"sv)),
            "HDR gain map");
  EXPECT_EQ(lost(segment(0xEB, "JP\0\1"sv)), "JUMBF (C2PA)");
  EXPECT_EQ(lost(segment(0xE4, "maker"sv) + segment(0xE4, "again"sv)), "APP4 segment");
  EXPECT_EQ(lost(segment(0xEC, "Ducky\0"sv) + segment(0xEE, "Adobe"sv) + segment(0xE5, "\0\0"sv)), "");
  EXPECT_EQ(lost(segment(0xFE, "a\0b"sv)), "comment (damaged: contains a NUL byte)");
  EXPECT_EQ(lost(segment(0xFE, "\0\0"sv)), "");
}

ExifParts exif_of_resolution(std::uint32_t x, std::uint32_t y, bool big_endian = false) {
  ExifParts parts;
  parts.big_endian = big_endian;
  parts.image = {
      {0x010F, exif_text("Maker")}, {0x011A, {5, {x, 1}}}, {0x011B, {5, {y, 1}}}, {0x0128, {3, {2}}}};
  return parts;
}

TEST(MetadataResolution, ExifAppliesIfTheFileHasNone) {
  for (const bool big_endian : {false, true}) {
    Metadata given;
    given.exif = exif_of_resolution(300, 150, big_endian).build();
    for (const Format input : {Format::jpeg, Format::png, Format::webp}) {
      const Bytes file = file_with(input, given);
      for (const Format output : {Format::jpeg, Format::png, Format::tiff}) {
        const PreservedMetadata kept = keep_metadata(file, {.output = output, .shape = {17, 11, 3}});
        ASSERT_TRUE(kept.metadata && kept.metadata->resolution);
        EXPECT_EQ(kept.metadata->resolution->per_inch(1000)->x, 300U);
        EXPECT_EQ(kept.metadata->resolution->per_inch(1000)->y, 150U);
        EXPECT_EQ(kept.metadata->exif, given.exif);
        EXPECT_EQ(lost_metadata_text(kept.lost), "");
      }
      const PreservedMetadata webp = keep_metadata(file, {.output = Format::webp, .shape = {17, 11, 3}});
      EXPECT_EQ(webp.metadata->exif, given.exif);
      EXPECT_EQ(lost_metadata_text(webp.lost), "") << "EXIF holds it";
    }
  }
}

TEST(MetadataResolution, ExifAgreesWithTheResult) {
  for (const bool big_endian : {false, true}) {
    Metadata given;
    given.exif = exif_of_resolution(300, 150, big_endian).build();
    const auto fields = [&](const ImageChanges& use, Format input = Format::jpeg) {
      const PreservedMetadata kept = keep_metadata(file_with(input, given), use);
      return read_exif(kept.metadata->exif).image;
    };
    const std::vector<std::uint32_t> turned_x{150, 1}, turned_y{300, 1}, other{72, 1};
    const ImageChanges turned{
        .output = Format::webp, .shape = {17, 11, 3}, .applied = Orientation::rotate_90};
    EXPECT_EQ(fields(turned).at(0x011A).values, turned_x);
    EXPECT_EQ(fields(turned).at(0x011B).values, turned_y);
    EXPECT_FALSE(fields({.output = Format::png, .shape = {17, 11, 3}, .moved = true}).contains(0x011A));
    given.resolution = Resolution{.x = 72, .y = 72, .unit = Resolution::Unit::inch};
    EXPECT_EQ(fields({.output = Format::png, .shape = {17, 11, 3}}).at(0x011B).values, other);
    // A PNG's 2835 pixels per metre equal EXIF's 72 per inch.
    given.exif = exif_of_resolution(72, 72, big_endian).build();
    const PreservedMetadata exact =
        keep_metadata(file_with(Format::png, given), {.output = Format::tiff, .shape = {17, 11, 3}});
    EXPECT_EQ(exact.metadata->resolution->x, 72U);
    EXPECT_EQ(exact.metadata->resolution->x_of, 1U);
    // If EXIF has no resolution fields, none are added.
    ExifParts maker;
    maker.image = {{0x010F, exif_text("Maker")}};
    given.exif = maker.build();
    EXPECT_EQ(fields({.output = Format::png, .shape = {17, 11, 3}}).size(), 1U);
  }
}

TEST(MetadataResolution, ResizeRemovesItFromEveryFormat) {
  for (const bool in_file : {false, true}) {
    Metadata given;
    given.exif = exif_of_resolution(300, 300).build();
    if (in_file) given.resolution = Resolution{.x = 300, .y = 300, .unit = Resolution::Unit::inch};
    for (const Format input : {Format::jpeg, Format::png, Format::webp}) {
      for (const Format output : kHolders) {
        const PreservedMetadata kept =
            keep_metadata(file_with(input, given), {.output = output, .shape = {17, 11, 3}, .scaled = true});
        ASSERT_TRUE(kept.metadata);
        EXPECT_FALSE(kept.metadata->resolution);
        const ExifFields fields = read_exif(kept.metadata->exif).image;
        EXPECT_EQ(fields.size(), 1U) << "the maker alone";
        EXPECT_EQ(lost_metadata_text(kept.lost), "resolution (resized)");
      }
    }
  }
}

TEST(MetadataTexts, ThumbnailsAndCameraSoftwareAreReported) {
  Metadata given;
  ExifParts parts = exif_of_resolution(300, 300);
  parts.image[0x0131] = exif_text("Camera 1.0");
  parts.thumbnail = {{0x0103, {3, {6}}}};
  given.exif = parts.build();
  given.xmp = bytes_of(xmp_packet("<xmp:Thumbnails>a</xmp:Thumbnails>"));
  const Bytes file = file_with(Format::jpeg, given);
  for (const Format output : {Format::jpeg, Format::png, Format::webp}) {
    const PreservedMetadata kept = keep_metadata(file, {.output = output, .shape = {17, 11, 3}});
    EXPECT_EQ(lost_metadata_text(kept.lost), "EXIF thumbnail, XMP thumbnail");
    EXPECT_EQ(read_exif(kept.metadata->exif).image.at(0x0131).values, parts.image[0x0131].values);
  }
  const PreservedMetadata tiff = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(tiff.lost),
            "EXIF thumbnail, Software (imgpipe's mark replaces it), XMP thumbnail");
  // imgpipe's mark in a TIFF is not read as a camera's Software.
  const Bytes marked = file_with(Format::tiff, *tiff.metadata);
  EXPECT_EQ(find_mark(std::span(marked).first(std::min(marked.size(), kMarkBytes))), Mark::result);
  for (const Format output : kHolders) {
    const PreservedMetadata kept = keep_metadata(marked, {.output = output, .shape = {17, 11, 3}});
    EXPECT_FALSE(read_exif(kept.metadata->exif).image.contains(0x0131));
  }
  // A TIFF from a camera, and one from another program.
  const auto text_values = [](const std::string& text) {
    return std::vector<std::uint64_t>(text.c_str(), text.c_str() + text.size() + 1);
  };
  for (const bool camera : {true, false}) {
    MadeTiff made(1, 1);
    made.set(305, text_values("Camera 1.0"), 2);
    if (camera) made.set(271, text_values("Maker"), 2);
    const Bytes source = made.build();
    const PreservedMetadata png = keep_metadata(source, {.output = Format::png, .shape = {1, 1, 1}});
    EXPECT_EQ(png.metadata && read_exif(png.metadata->exif).image.contains(0x0131), camera);
    EXPECT_EQ(lost_metadata_text(png.lost), "");
    EXPECT_EQ(lost_metadata_text(keep_metadata(source, {.output = Format::tiff, .shape = {1, 1, 1}}).lost),
              camera ? "Software (imgpipe's mark replaces it)" : "");
  }
}

TEST(MetadataTexts, UnappliedOrientationIsResetAfterRotation) {
  Metadata given;
  ExifParts parts;
  parts.image = {{0x010F, exif_text("Maker")}, {0x0112, {3, {6}}}};
  given.exif = parts.build();
  given.xmp = bytes_of(xmp_packet("<rdf:Description tiff:Orientation='6'/>"));
  const Bytes file = file_with(Format::png, given);
  for (const Format output : kHolders) {
    for (const bool turned : {false, true}) {
      const PreservedMetadata kept =
          keep_metadata(file, {.output = output, .shape = {17, 11, 3}, .moved = true, .turned = turned});
      ASSERT_TRUE(kept.metadata);
      EXPECT_EQ(read_exif(kept.metadata->exif).image.at(0x0112).values.at(0), turned ? 1U : 6U);
      EXPECT_EQ(text_of(kept.metadata->xmp).find("tiff:Orientation='6'") == std::string::npos, turned);
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::metadata_texts_test

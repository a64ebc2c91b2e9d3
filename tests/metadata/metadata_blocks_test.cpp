// Tests the blocks of metadata in isolation: EXIF parsed and rewritten, XMP, profiles.
#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "images/codecs/icc.h"
#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/ome_xml.h"
#include "images/codecs/metadata/xml.h"
#include "images/codecs/metadata/xmp.h"
#include "images/error.h"
#include "images/formats/preserved_metadata.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::metadata_blocks_test {
namespace {

Bytes rewritten(std::span<const std::byte> block, bool reset = true) {
  ExifBlock parsed = parse_exif(block);
  adapt_exif(parsed, reset ? std::optional(Orientation::upright) : std::nullopt, 640, 480);
  return build_exif(parsed, kMaxExifBytes);
}

// Returns why a block is refused, or "".
std::string refusal(std::span<const std::byte> block) {
  try {
    const Bytes made = rewritten(block);
    (void)read_exif(made);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string xmp_packet(const std::string& inside) {
  return "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF>" +
         inside + "</rdf:RDF></x:xmpmeta><?xpacket end='w'?>";
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string checked(const std::string& text, bool reset = false) {
  return text_of(checked_xmp(bytes_of(text), reset));
}

TEST(Exif, KeepsKnownFieldsAndDropsOthers) {
  for (const bool big_endian : {false, true}) {
    const ExifParts given = camera_exif(6, big_endian);
    const ExifParts made = read_exif(rewritten(given.build()));
    EXPECT_EQ(made.big_endian, big_endian);
    ExifFields image = given.image, exif = given.exif;
    image[0x0112] = {3, {1}};
    exif.erase(0x927C);
    exif[0xA002] = {4, {640}};
    exif[0xA003] = {4, {480}};
    EXPECT_TRUE(same_values(made.image, image));
    EXPECT_TRUE(same_values(made.exif, exif));
    EXPECT_TRUE(same_values(made.gps, given.gps));
    EXPECT_TRUE(same_values(made.interoperability, given.interoperability));
    EXPECT_TRUE(made.thumbnail.empty());
    EXPECT_TRUE(parse_exif(given.build()).has_maker_note);
  }
}

TEST(Exif, UnappliedOrientationIsPreserved) {
  EXPECT_EQ(read_exif(rewritten(camera_exif(6).build(), false)).image.at(0x0112).values.at(0), 6U);
}

TEST(Exif, InvalidOrientationIsDropped) {
  for (const bool big_endian : {false, true}) {
    ExifParts parts = camera_exif(8, big_endian);
    EXPECT_EQ(read_exif(rewritten(parts.build(), false)).image.count(0x0112), 1U);
    for (const ExifField& none :
         {ExifField{3, {0}}, {3, {9}}, {3, {0x0100}}, {3, {99}}, {4, {6}}, {3, {6, 6}}}) {
      parts.image[0x0112] = none;
      EXPECT_EQ(read_exif(rewritten(parts.build(), false)).image.count(0x0112), 0U) << none.values[0];
    }
  }
}

TEST(Exif, RewritingIsIdempotent) {
  for (const bool big_endian : {false, true}) {
    const Bytes once = rewritten(camera_exif(8, big_endian).build());
    EXPECT_EQ(rewritten(once), once);
  }
}

TEST(Exif, DropsFieldsThatDescribePixels) {
  ExifParts parts = camera_exif(1);
  for (const int tag : {0x0100, 0x0103, 0x0111, 0x0117, 0x014A, 0x0201, 0x0202, 0x02BC, 0x8773})
    parts.image[tag] = {4, {12345}};
  EXPECT_TRUE(same_values(read_exif(rewritten(parts.build())).image, camera_exif(1).image));
}

TEST(Exif, TruncationIsRejected) {
  for (const bool big_endian : {false, true}) {
    const Bytes block = camera_exif(6, big_endian).build();
    std::size_t refused = 0;
    for (std::size_t bytes = 0; bytes < block.size(); ++bytes)
      refused += refusal(std::span(block).first(bytes)).empty() ? 0 : 1;
    // Only the thumbnail's directory, which is not read, may be missing.
    EXPECT_GE(refused, block.size() - 80);
  }
}

TEST(Exif, ChangedBytesYieldAValidBlockOrNone) {
  std::mt19937_64 random(1);
  const Bytes block = camera_exif(6).build();
  for (std::size_t at = 0; at < block.size(); ++at) {
    for (const unsigned value : {0U, 1U, 0x7FU, 0xFFU, static_cast<unsigned>(random() % 256)}) {
      Bytes bent = block;
      bent[at] = static_cast<std::byte>(value);
      EXPECT_NO_THROW((void)refusal(bent)) << "byte " << at << " is " << value;
    }
  }
}

TEST(Exif, LoopsAreRejected) {
  ExifParts parts = camera_exif(1);
  parts.exif[0xA005] = {4, {8}};
  parts.interoperability.clear();
  Bytes block = parts.build();
  // The interoperability directory's offset is that of the first directory.
  const std::uint32_t first =
      std::to_integer<std::uint32_t>(block[4]) | std::to_integer<std::uint32_t>(block[5]) << 8;
  parts.exif[0xA005] = {4, {first}};
  EXPECT_EQ(refusal(parts.build()), "damaged: overlapping parts");
}

TEST(Exif, OverlapsAreRejectedUnlessValuesAreEqual) {
  ExifParts parts;
  parts.image = {{0x010F, exif_text("a long name")}, {0x0110, exif_text("a long name")}};
  Bytes block = parts.build();
  EXPECT_EQ(refusal(block), "");
  const std::size_t begin = std::to_integer<std::size_t>(block[4]);
  const auto first = block.begin() + static_cast<std::ptrdiff_t>(begin) + 2 + 8;
  std::copy(first, first + 4, first + 12);  // the second's offset equals the first's
  EXPECT_EQ(refusal(block), "");
  first[12] = static_cast<std::byte>(std::to_integer<unsigned>(first[0]) + 2);
  EXPECT_EQ(refusal(block), "damaged: overlapping parts");
  first[12] = static_cast<std::byte>(begin);
  EXPECT_EQ(refusal(block), "damaged: overlapping parts");
}

TEST(Exif, OverflowingCountsAreRejected) {
  for (const int type : {2, 3, 4, 5, 7, 12}) {
    for (const std::uint32_t count :
         {0xFFFFFFFFU, 0x80000000U, 0x40000000U, 0x20000000U, 0x10000001U, 70'000U}) {
      ExifParts parts = camera_exif(1);
      parts.image[0x9C9B] = {type, std::vector<std::uint32_t>(10, 1), count};
      EXPECT_EQ(refusal(parts.build()), "damaged: an offset is out of bounds") << type << " " << count;
    }
  }
}

TEST(Exif, OversizedBlocksAreRejected) {
  ExifParts parts;
  parts.exif = {{0x9286, {7, std::vector<std::uint32_t>(65'400, 1)}}};
  EXPECT_EQ(refusal(parts.build()), "");
  parts.exif = {{0x9286, {7, std::vector<std::uint32_t>(65'500, 1)}}};
  EXPECT_EQ(refusal(parts.build()), "longer than 65527 bytes");
}

TEST(Exif, TiffDirectoriesUseNativeByteOrder) {
  for (const bool big_endian : {false, true}) {
    const Bytes bytes = camera_exif(1, big_endian).build();
    const ExifBlock block = parse_exif(bytes);
    const ExifDirectories made = build_exif_directories(block, 8);
    ASSERT_EQ(made.exif, 8U);
    // A file whose first directory is the Exif directory made above.
    Bytes file = bytes_of(std::string_view("II*\0\x08\0\0\0", 8)) + made.bytes;
    const ExifParts read = read_exif(file);
    ExifFields exif = camera_exif(1).exif;
    exif.erase(0x927C);
    EXPECT_TRUE(same_values(read.image, exif) || read.image.contains(0xA005));
    EXPECT_EQ(read.image.at(0x829A).values, (std::vector<std::uint32_t>{1, 250}));
    EXPECT_EQ(read.image.at(0x9204).values, (std::vector<std::uint32_t>{0xFFFFFFFF, 3}));
    EXPECT_LT(made.gps, file.size());
  }
}

TEST(Xmp, ValidPacketsArePreserved) {
  for (const char* inside : {"", "<rdf:Description a='b>c' d=\"e\"/>", "<a><b/>\xC3\xA9 \xF0\x9F\x98\x80</a>",
                             "<!-- <x --><a><![CDATA[<x]]></a>"})
    EXPECT_EQ(checked(xmp_packet(inside)), xmp_packet(inside));
}

TEST(Xmp, InvalidPacketsAreRejected) {
  for (const std::string& inside :
       {std::string("<a>"), std::string("</a>"), std::string("<a></b>"), std::string("<a b='"),
        std::string("<"), std::string("\xFF"), std::string("\xC0\x80"), std::string("\xED\xA0\x80"),
        std::string("\xF4\x90\x80\x80"), std::string("a\0b", 3), std::string("\x01"),
        std::string("<!DOCTYPE a>"), std::string("<!ENTITY a 'b'>"), std::string("<!-- "), std::string("<? "),
        std::string("<a <b>>"), std::string("\xE2\x82")})
    EXPECT_THROW((void)checked(xmp_packet(inside)), Error) << inside;
  EXPECT_THROW((void)checked("<x/>"), Error);
  EXPECT_THROW((void)checked(""), Error);
  std::string deep, end;
  for (int i = 0; i < 300; ++i) deep += "<a>", end += "</a>";
  EXPECT_THROW((void)checked(xmp_packet(deep + end)), Error);
  const std::string packet = xmp_packet("<rdf:Description a='1'>\xC3\xA9</rdf:Description>");
  for (std::size_t bytes = 0; bytes < packet.find("<?xpacket end"); ++bytes)
    EXPECT_THROW((void)checked(packet.substr(0, bytes)), Error) << bytes;
}

TEST(Xmp, OrientationIsResetAndThumbnailsAreRemoved) {
  const auto inside = [](const std::string& digit, const std::string& thumbnail) {
    return xmp_packet("<rdf:Description tiff:Orientation=\"" + digit +
                      "\" tiff:OrientationX='7'/><tiff:Orientation>" + digit + "</tiff:Orientation>" +
                      thumbnail);
  };
  const std::string thumbnail = "<xmp:Thumbnails><rdf:Alt><rdf:li>abc</rdf:li></rdf:Alt></xmp:Thumbnails>";
  EXPECT_EQ(checked(inside("6", thumbnail), true), inside("1", ""));
  EXPECT_EQ(checked(inside("6", thumbnail), false), inside("6", ""));
  // Removing this element would leave invalid XML.
  EXPECT_THROW((void)checked(xmp_packet("<a><xmp:Thumbnails></a><b></xmp:Thumbnails></b>")), Error);
}

std::string image_of_ome(int id, const std::string& sizes, const std::string& inside) {
  return "<Image ID=\"Image:" + std::to_string(id) + "\"><Pixels DimensionOrder=\"XYCZT\" " + sizes +
         " PhysicalSizeX=\"0.5\">" + inside + "</Pixels></Image>";
}
std::string ome(const std::string& inside, const std::string& attributes = " UUID=\"urn:uuid:1\"") {
  return "<?xml version=\"1.0\"?><!-- <UUID> --><OME xmlns=\"a\"" + attributes + ">" + inside + "</OME>";
}
std::string plane_of_ome(const std::string& first, const std::string& inside = "") {
  return "<TiffData IFD=\"0\" " + first + " PlaneCount=\"1\">" + inside + "</TiffData>";
}
std::string uuid_of_ome(const std::string& number) {
  return "<UUID FileName=\"t" + number + ".tif\">urn:uuid:" + number + "</UUID>";
}

TEST(OmeXml, CorrectTextIsPreserved) {
  const std::string text = ome(image_of_ome(0, "SignificantBits=\"12\"", "<TiffData/>"), "");
  EXPECT_EQ(adapt_ome_xml(text, "t1.tif", false).text, text);
  EXPECT_TRUE(adapt_ome_xml(text, "t1.tif", false).lost.empty());
  const AdaptedOmeXml changed = adapt_ome_xml(text, "t1.tif", true);
  EXPECT_EQ(changed.text, ome(image_of_ome(0, "", "<TiffData/>"), "").replace(text.find(" Sig"), 1, ""));
  EXPECT_EQ(lost_metadata_text(changed.lost), "OME-XML's SignificantBits (sample values changed)");
}

TEST(OmeXml, FileNamesAreRemoved) {
  const std::string inside = plane_of_ome("FirstT=\"0\"", uuid_of_ome("1"));
  const std::string plain = ome(image_of_ome(0, "SizeT=\"1\"", plane_of_ome("FirstT=\"0\"")), "");
  for (const std::string root : {" UUID=\"urn:uuid:1\"", ""}) {
    const AdaptedOmeXml adapted = adapt_ome_xml(ome(image_of_ome(0, "SizeT=\"1\"", inside), root), "", false);
    EXPECT_EQ(adapted.text, plain);
    EXPECT_EQ(lost_metadata_text(adapted.lost), "OME-XML's UUIDs and file names (of the input)");
  }
}

// In a series of files, each result describes only its own planes: here those with T = 1, of both channels.
TEST(OmeXml, SeriesKeepsOnlyThePlanesOfItsFile) {
  const auto all = [](const std::string& root) {
    std::string inside = "<Channel ID=\"c0\"/><Channel ID=\"c1\"/>";
    for (const char* t : {"0", "1"})
      for (const char* c : {"0", "1"})
        inside += plane_of_ome("FirstC=\"" + std::string(c) + "\" FirstT=\"" + t + "\"", uuid_of_ome(t));
    inside += "<Plane TheZ=\"0\" TheC=\"0\" TheT=\"0\"/><Plane TheZ=\"0\" TheC=\"1\" TheT=\"1\"/>";
    return ome(image_of_ome(0, "SizeZ=\"1\" SizeC=\"2\" SizeT=\"2\"", inside), root);
  };
  const std::string left =
      ome(image_of_ome(
              0, "SizeZ=\"1\" SizeC=\"2\" SizeT=\"1\"",
              "<Channel ID=\"c0\"/><Channel ID=\"c1\"/>" + plane_of_ome("FirstC=\"0\" FirstT=\"0\"") +
                  plane_of_ome("FirstC=\"1\" FirstT=\"0\"") + "<Plane TheZ=\"0\" TheC=\"1\" TheT=\"0\"/>"),
          "");
  for (const char* root : {"", " UUID=\"urn:uuid:1\"", " UUID='urn:uuid:1'"}) {
    const AdaptedOmeXml adapted = adapt_ome_xml(all(root), "t1.tif", false);
    EXPECT_EQ(adapted.text, left) << root;
    EXPECT_EQ(lost_metadata_text(adapted.lost),
              "OME-XML of other files of the series (not part of the output), "
              "OME-XML's UUIDs and file names (of the input)");
  }
  // The same for a series with one file per channel.
  const std::string by_channel = ome(image_of_ome(0, "SizeZ=\"1\" SizeC=\"2\" SizeT=\"1\"",
                                                  "<Channel ID=\"c0\"/><Channel ID=\"c1\"/>" +
                                                      plane_of_ome("FirstC=\"0\"", uuid_of_ome("0")) +
                                                      plane_of_ome("FirstC=\"1\"", uuid_of_ome("1"))));
  EXPECT_EQ(adapt_ome_xml(by_channel, "", false).text,
            ome(image_of_ome(0, "SizeZ=\"1\" SizeC=\"1\" SizeT=\"1\"",
                             "<Channel ID=\"c1\"/>" + plane_of_ome("FirstC=\"0\"")),
                ""));
}

TEST(OmeXml, ImagesInOtherFilesAreRemoved) {
  const std::string first = image_of_ome(0, "SizeZ=\"1\" SizeC=\"1\" SizeT=\"1\"",
                                         plane_of_ome("FirstT=\"0\"", uuid_of_ome("0"))),
                    second = image_of_ome(1, "SizeZ=\"1\" SizeC=\"1\" SizeT=\"1\"",
                                          plane_of_ome("FirstT=\"0\"", uuid_of_ome("1")));
  const std::string references = "<D><ImageRef ID=\"Image:0\"/><ImageRef ID=\"Image:1\"/></D>";
  EXPECT_EQ(adapt_ome_xml(ome(first + second + references), "", false).text,
            ome(image_of_ome(1, "SizeZ=\"1\" SizeC=\"1\" SizeT=\"1\"", plane_of_ome("FirstT=\"0\"")) +
                    "<D><ImageRef ID=\"Image:1\"/></D>",
                ""));
}

TEST(OmeXml, InconsistentTextIsRejected) {
  const auto reason = [](const std::string& text) {
    try {
      (void)adapt_ome_xml(text, "t1.tif", true);
      return std::string("kept");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const std::string sizes = "SizeZ=\"1\" SizeC=\"1\" SizeT=\"3\"";
  const std::string other = plane_of_ome("FirstT=\"1\"", uuid_of_ome("2"));
  const auto own = [](const std::string& t) {
    return plane_of_ome("FirstT=\"" + t + "\"", uuid_of_ome("1"));
  };
  EXPECT_EQ(reason(ome("<BinaryOnly MetadataFile=\"t0.tif\" UUID=\"urn:uuid:0\"/>")),
            "refers to another file");
  EXPECT_EQ(reason(ome(image_of_ome(0, sizes, other))), "describes other files");
  EXPECT_EQ(reason(ome(image_of_ome(0, sizes, own("0") + other + own("2")))), "describes other files");
  EXPECT_EQ(reason(ome(image_of_ome(0, sizes, own("7") + other))), "damaged: a plane outside its image");
  EXPECT_EQ(reason(ome(image_of_ome(0, sizes, own("x") + other))), "damaged: invalid number");
  EXPECT_EQ(reason(ome(image_of_ome(0, "SizeZ=\"99999\" SizeC=\"99999\" SizeT=\"99999\"", own("0") + other))),
            "damaged: invalid size");
  for (const char* bad : {"<UUID>", "<Pixels b=c/>", "</UUID>", "<UUID", "<!DOCTYPE UUID>", "<Pixels a/>"})
    EXPECT_TRUE(reason(ome(bad)).starts_with("damaged: ")) << bad;
}

// OME-XML that is truncated or changed anywhere is refused or stays well-formed.
TEST(OmeXml, DamageIsSafe) {
  const std::string text =
      ome(image_of_ome(0, "SizeZ=\"1\" SizeC=\"1\" SizeT=\"2\" SignificantBits=\"12\"",
                       plane_of_ome("FirstT=\"0\"", uuid_of_ome("0")) +
                           plane_of_ome("FirstT=\"1\"", uuid_of_ome("1")) + "<Plane TheT=\"1\"/>"));
  std::mt19937_64 random(11);
  int kept = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bent = text;
    for (std::uint64_t k = random() % 3; k < 3; ++k)
      bent[random() % bent.size()] = "<>/\"'= a0U"[random() % 10];
    if (i % 4 == 0) bent.resize(random() % bent.size());
    try {
      const AdaptedOmeXml adapted = adapt_ome_xml(bent, "t1.tif", true);
      if (adapted.text == bent) continue;
      ++kept;
      EXPECT_NO_THROW((void)xml_elements(adapted.text)) << bent;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
    }
  }
  EXPECT_GT(kept, 100);
}

TEST(Profile, RejectsFaultyProfiles) {
  const Bytes good = adobe_profile();
  EXPECT_EQ(profile_fault(good), "");
  EXPECT_EQ(profile_channels(good), 3);
  EXPECT_EQ(profile_channels(make_profile("CMYK", {})), 4);
  EXPECT_EQ(profile_channels(make_profile("Lab ", {})), 0);
  EXPECT_EQ(profile_channels(make_profile("GRAY", {})), 1);
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_NE(profile_fault(std::span(good).first(bytes)), "") << bytes;
  EXPECT_EQ(profile_fault(good + Bytes(100)), "") << "more than it takes is cut off";
  Bytes bent = good;
  bent[132 + 4] = std::byte{0xFF};  // the first tag's offset
  EXPECT_EQ(profile_fault(bent), "a tag lies outside the profile");
  bent = good;
  bent[128] = std::byte{0xFF};  // the number of tags
  EXPECT_NE(profile_fault(bent), "");
}

}  // namespace
}  // namespace imgpipe::test::metadata_blocks_test

// Metadata: EXIF written anew, XMP, profiles; what each format's reader finds and its writer puts in.
#include "images/codecs/metadata/metadata.h"

#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "images/codecs/icc.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/xmp.h"
#include "images/error.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/profiles.h"

namespace imgpipe::test {
namespace {

constexpr Format kHolders[] = {Format::jpeg, Format::png, Format::webp, Format::tiff};

Bytes rewritten(std::span<const std::byte> block, bool reset = true) {
  ExifBlock parsed = parse_exif(block);
  adapt_exif(parsed, reset, 640, 480);
  return build_exif(parsed, kMostExifBytes);
}

// Why a block is refused; empty: it is not.
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

bool same_values(const ExifFields& a, const ExifFields& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.type == y.second.type && x.second.values == y.second.values;
  });
}

Bytes file_with(Format format, const Metadata& metadata, Shape shape = {17, 11, 3}) {
  EncodeOptions options;
  options.mark = Mark::result;
  options.metadata = std::make_shared<const Metadata>(metadata);
  const std::unique_ptr<Writer> writer = make_writer(format, shape, options);
  Image image(shape);
  std::mt19937_64 random(5);
  for (std::int64_t y = 0; y < shape.height; ++y)
    std::generate_n(image.view().row(y), shape.row_bytes(), [&] { return static_cast<Sample>(random()); });
  writer->write_rows(std::as_const(image).untyped_view());
  return writer->finish().joined();
}

Metadata all_metadata(Format format) {
  Metadata metadata;
  metadata.icc = adobe_profile();
  metadata.exif = rewritten(camera_exif(1).build());
  metadata.xmp = bytes_of(xmp_packet("<rdf:Description a='1'/>"));
  if (format != Format::webp)
    metadata.resolution = Resolution{.x = 300, .y = 150, .unit = Resolution::Unit::inch};
  return metadata;
}

TEST(Exif, KeepsWhatItSaysAndLeavesOutTheRest) {
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
    EXPECT_TRUE(parse_exif(given.build()).had_maker_note);
  }
}

TEST(Exif, OrientationStaysWhereItWasNotApplied) {
  EXPECT_EQ(read_exif(rewritten(camera_exif(6).build(), false)).image.at(0x0112).values.at(0), 6U);
}

TEST(Exif, WritingItAgainChangesNothing) {
  for (const bool big_endian : {false, true}) {
    const Bytes once = rewritten(camera_exif(8, big_endian).build());
    EXPECT_EQ(rewritten(once), once);
  }
}

TEST(Exif, DropsFieldsOfThePixels) {
  ExifParts parts = camera_exif(1);
  for (const int tag : {0x0100, 0x0103, 0x0111, 0x0117, 0x014A, 0x0201, 0x0202, 0x02BC, 0x8773})
    parts.image[tag] = {4, {12345}};
  EXPECT_TRUE(same_values(read_exif(rewritten(parts.build())).image, camera_exif(1).image));
}

TEST(Exif, CutAnywhereItIsRefusedOrWhole) {
  for (const bool big_endian : {false, true}) {
    const Bytes block = camera_exif(6, big_endian).build();
    std::size_t refused = 0;
    for (std::size_t bytes = 0; bytes < block.size(); ++bytes)
      refused += refusal(std::span(block).first(bytes)).empty() ? 0 : 1;
    // What may be cut off is the thumbnail's directory, which is not read.
    EXPECT_GE(refused, block.size() - 80);
  }
}

TEST(Exif, AnyByteChangedGivesABlockInOrderOrNone) {
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

TEST(Exif, LoopsAreRefused) {
  ExifParts parts = camera_exif(1);
  parts.exif[0xA005] = {4, {8}};
  parts.interoperability.clear();
  Bytes block = parts.build();
  // The first directory as that of interoperability, then of itself.
  const std::uint32_t first =
      std::to_integer<std::uint32_t>(block[4]) | std::to_integer<std::uint32_t>(block[5]) << 8;
  parts.exif[0xA005] = {4, {first}};
  EXPECT_EQ(refusal(parts.build()), "damaged: parts of it overlap");
}

TEST(Exif, OverlapsAreRefusedButForEqualValues) {
  ExifParts parts;
  parts.image = {{0x010F, exif_text("a long name")}, {0x0110, exif_text("a long name")}};
  Bytes block = parts.build();
  EXPECT_EQ(refusal(block), "");
  const std::size_t begin = std::to_integer<std::size_t>(block[4]);
  const auto first = block.begin() + static_cast<std::ptrdiff_t>(begin) + 2 + 8;
  std::copy(first, first + 4, first + 12);  // the second's offset is the first's
  EXPECT_EQ(refusal(block), "");
  first[12] = static_cast<std::byte>(std::to_integer<unsigned>(first[0]) + 2);
  EXPECT_EQ(refusal(block), "damaged: parts of it overlap");
  first[12] = static_cast<std::byte>(begin);
  EXPECT_EQ(refusal(block), "damaged: parts of it overlap");
}

TEST(Exif, CountsThatOverflowAreRefused) {
  for (const int type : {2, 3, 4, 5, 7, 12}) {
    for (const std::uint32_t count :
         {0xFFFFFFFFU, 0x80000000U, 0x40000000U, 0x20000000U, 0x10000001U, 70'000U}) {
      ExifParts parts = camera_exif(1);
      parts.image[0x9C9B] = {type, std::vector<std::uint32_t>(10, 1), count};
      EXPECT_EQ(refusal(parts.build()), "damaged: an offset leads out of it") << type << " " << count;
    }
  }
}

TEST(Exif, TooLongIsRefused) {
  ExifParts parts;
  parts.exif = {{0x9286, {7, std::vector<std::uint32_t>(65'400, 1)}}};
  EXPECT_EQ(refusal(parts.build()), "");
  parts.exif = {{0x9286, {7, std::vector<std::uint32_t>(65'500, 1)}}};
  EXPECT_EQ(refusal(parts.build()), "longer than 65527 bytes");
}

TEST(Exif, DirectoriesForATiffAreInThisMachinesOrder) {
  for (const bool big_endian : {false, true}) {
    const ExifBlock block = parse_exif(camera_exif(1, big_endian).build());
    const ExifDirectories made = build_exif_directories(block, 8);
    ASSERT_EQ(made.exif, 8U);
    // A file whose first directory they are.
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

TEST(Xmp, WhatIsInOrderStays) {
  for (const char* inside : {"", "<rdf:Description a='b>c' d=\"e\"/>", "<a><b/>\xC3\xA9 \xF0\x9F\x98\x80</a>",
                             "<!-- <x --><a><![CDATA[<x]]></a>"})
    EXPECT_EQ(checked(xmp_packet(inside)), xmp_packet(inside));
}

TEST(Xmp, WhatIsNotInOrderIsRefused) {
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

TEST(Xmp, OrientationIsResetAndThumbnailsGo) {
  const auto inside = [](const std::string& digit, const std::string& thumbnail) {
    return xmp_packet("<rdf:Description tiff:Orientation=\"" + digit +
                      "\" tiff:OrientationX='7'/><tiff:Orientation>" + digit + "</tiff:Orientation>" +
                      thumbnail);
  };
  const std::string thumbnail = "<xmp:Thumbnails><rdf:Alt><rdf:li>abc</rdf:li></rdf:Alt></xmp:Thumbnails>";
  EXPECT_EQ(checked(inside("6", thumbnail), true), inside("1", ""));
  EXPECT_EQ(checked(inside("6", thumbnail), false), inside("6", ""));
  // An element cut out of which leaves no XML.
  EXPECT_THROW((void)checked(xmp_packet("<a><xmp:Thumbnails></a><b></xmp:Thumbnails></b>")), Error);
}

TEST(Profile, Faults) {
  const Bytes good = adobe_profile();
  EXPECT_EQ(profile_fault(good), "");
  EXPECT_EQ(profile_channels(good), 3);
  EXPECT_EQ(profile_channels(make_profile("CMYK", {})), 0);
  EXPECT_EQ(profile_channels(make_profile("GRAY", {})), 1);
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_NE(profile_fault(std::span(good).first(bytes)), "") << bytes;
  EXPECT_EQ(profile_fault(good + Bytes(100)), "") << "more than it takes is cut off";
  Bytes bent = good;
  bent[132 + 4] = std::byte{0xFF};  // the first tag's offset
  EXPECT_EQ(profile_fault(bent), "a tag lies outside");
  bent = good;
  bent[128] = std::byte{0xFF};  // the number of tags
  EXPECT_NE(profile_fault(bent), "");
}

TEST(Metadata, EveryFormatGivesBackWhatItTook) {
  for (const Format format : kHolders) {
    const Metadata given = all_metadata(format);
    const Bytes file = file_with(format, given);
    const std::string name(format_info(format).name);
    EXPECT_TRUE(try_decode(file).reason.empty()) << name << try_decode(file).reason;
    EXPECT_EQ(find_mark(std::span(file).first(std::min(file.size(), kMarkBytes))), Mark::result) << name;
    const KeptMetadata kept = keep_metadata(file, {.output = format, .shape = {640, 480, 3}});
    ASSERT_TRUE(kept.metadata) << name;
    EXPECT_EQ(kept.metadata->icc, given.icc) << name;
    if (format != Format::tiff) {
      EXPECT_EQ(kept.metadata->exif, given.exif) << name;
    } else {
      const ExifParts read = read_exif(kept.metadata->exif), wanted = read_exif(given.exif);
      ExifFields image = wanted.image;
      image.erase(0x011A);  // its resolution, which a TIFF has as a field of its own
      EXPECT_TRUE(same_values(read.image, image));
      EXPECT_TRUE(same_values(read.exif, wanted.exif));
      EXPECT_TRUE(same_values(read.gps, wanted.gps));
      EXPECT_TRUE(same_values(read.interoperability, wanted.interoperability));
    }
    EXPECT_EQ(text_of(kept.metadata->xmp), text_of(given.xmp)) << name;
    EXPECT_TRUE(kept.lost.empty()) << name;
    EXPECT_EQ(kept.lost_profile, "") << name;
    if (format == Format::webp) continue;
    ASSERT_TRUE(kept.metadata->resolution) << name;
    const auto dots = kept.metadata->resolution->per_inch(10'000);
    EXPECT_EQ(dots->x, 300U) << name;
    EXPECT_EQ(dots->y, 150U) << name;
  }
}

TEST(Metadata, PixelsAreTheSameWithAndWithout) {
  for (const Format format : kHolders) {
    const Decoded with = try_decode(file_with(format, all_metadata(format)));
    const Decoded without = try_decode(file_with(format, {}));
    EXPECT_EQ(first_difference(without.image.untyped_view(), with.image.untyped_view()), "")
        << format_info(format).name;
  }
}

TEST(Metadata, LargeProfilesGoThroughEveryFormat) {
  std::mt19937_64 random(3);
  Bytes filler(400'000);
  std::ranges::generate(filler, [&] { return static_cast<std::byte>(random()); });
  const Bytes profile = make_profile("RGB ", {{"desc", text_description("large")}, {"A2B0", filler}});
  for (const Format format : kHolders) {
    Metadata given;
    given.icc = profile;
    const Bytes file = file_with(format, given);
    EXPECT_EQ(find_mark(std::span(file).first(kMarkBytes)), Mark::result);
    const KeptMetadata kept = keep_metadata(file, {.output = format, .shape = {1, 1, 3}});
    ASSERT_TRUE(kept.metadata);
    EXPECT_EQ(kept.metadata->icc, profile) << format_info(format).name;
  }
}

TEST(Metadata, ProfilesOfOtherColoursAreDropped) {
  const Bytes file = file_with(Format::png, all_metadata(Format::png));
  const KeptMetadata grey = keep_metadata(file, {.output = Format::png, .shape = {1, 1, 1}});
  EXPECT_TRUE(grey.metadata->icc.empty());
  EXPECT_EQ(grey.lost_profile, "Adobe RGB (1998)");
  Metadata cmyk;
  cmyk.icc = make_profile("CMYK", {{"desc", text_description("press")}});
  const KeptMetadata kept =
      keep_metadata(file_with(Format::jpeg, cmyk), {.output = Format::jpeg, .shape = {1, 1, 3}});
  EXPECT_EQ(kept.lost_profile, "press");
}

TEST(Metadata, WhatAFormatDoesNotHoldIsSaid) {
  const Bytes file = file_with(Format::png, all_metadata(Format::png));
  const KeptMetadata kept = keep_metadata(file, {.output = Format::bmp, .shape = {1, 1, 3}});
  EXPECT_FALSE(kept.metadata);
  EXPECT_EQ(lost_metadata_text(kept.lost),
            "EXIF (bmp holds none), XMP (bmp holds none), resolution (bmp holds none)");
  EXPECT_EQ(kept.lost_profile, "Adobe RGB (1998)");
}

TEST(Metadata, ResolutionGoesByGeometry) {
  Metadata given;
  given.resolution = Resolution{.x = 300, .y = 150, .unit = Resolution::Unit::inch};
  const Bytes file = file_with(Format::jpeg, given);
  const auto kept = [&](bool scaled, bool moved, Orientation applied = Orientation::upright) {
    return keep_metadata(file, {Format::png, {1, 1, 3}, applied, moved, scaled});
  };
  EXPECT_EQ(lost_metadata_text(kept(true, false).lost), "resolution (resized)");
  EXPECT_FALSE(kept(false, true).metadata);
  const auto turned = kept(false, false, Orientation::rotate_90).metadata->resolution->per_inch(1000);
  EXPECT_EQ(turned->x, 150U);
  EXPECT_EQ(turned->y, 300U);
}

TEST(Metadata, ResolutionsInEveryUnit) {
  const auto inch = [](Resolution r) { return r.per_inch(65'535)->x; };
  const auto metre = [](Resolution r) { return r.per_metre(0x7FFFFFFF)->x; };
  constexpr Resolution::Unit centimetre = Resolution::Unit::centimetre;
  EXPECT_EQ(metre({.x = 300, .y = 300, .unit = Resolution::Unit::inch}), 11'811U);
  EXPECT_EQ(inch({.x = 11'811, .x_of = 100, .y = 11'811, .y_of = 100, .unit = centimetre}), 300U);
  EXPECT_EQ(metre({.x = 2835, .x_of = 100, .y = 1, .unit = centimetre}), 2835U);
  const Resolution huge{.x = 0xFFFFFFFF, .y = 1, .unit = centimetre};
  EXPECT_FALSE(huge.per_inch(65'535));
  const Resolution tiny{.x = 1, .x_of = 0xFFFFFFFF, .y = 1, .unit = centimetre};
  EXPECT_FALSE(tiny.per_metre(0x7FFFFFFF));
}

TEST(Metadata, FilesCutOrBentAnywhereAreSearchedSafely) {
  std::mt19937_64 random(7);
  for (const Format format : kHolders) {
    const Bytes file = file_with(format, all_metadata(format));
    const MetadataUse use{.output = Format::png, .shape = {17, 11, 3}};
    for (std::size_t bytes = 0; bytes < file.size(); ++bytes)
      EXPECT_NO_THROW((void)keep_metadata(std::span(file).first(bytes), use)) << bytes;
    for (int i = 0; i < 3000; ++i) {
      Bytes bent = file;
      for (int k = 0; k < 3; ++k) bent[random() % bent.size()] = static_cast<std::byte>(random());
      EXPECT_NO_THROW((void)keep_metadata(bent, use)) << i;
    }
  }
}

TEST(Metadata, ABombOfAProfileIsBounded) {
  Metadata given;
  given.icc = make_profile("RGB ", {{"desc", text_description("zeros")}, {"A2B0", Bytes(3 << 20)}});
  EXPECT_EQ(keep_metadata(file_with(Format::png, given), {.shape = {1, 1, 3}}).metadata->icc, given.icc);
  given.icc = make_profile("RGB ", {{"desc", text_description("zeros")}, {"A2B0", Bytes(5 << 20)}});
  const KeptMetadata kept = keep_metadata(file_with(Format::png, given), {.shape = {1, 1, 3}});
  EXPECT_FALSE(kept.metadata);
  EXPECT_EQ(kept.lost_profile, "unnamed");
}

TEST(Metadata, PartsOfAProfileMustBeWhole) {
  Metadata given;
  given.icc = make_profile("RGB ", {{"desc", text_description("long")}, {"A2B0", Bytes(150'000)}});
  const Bytes file = file_with(Format::jpeg, given);
  std::size_t at = 0;
  std::vector<std::size_t> numbers;
  const Bytes name = bytes_of("ICC_PROFILE");
  for (auto found = file.begin(); at + name.size() < file.size(); ++at) {
    found = file.begin() + static_cast<std::ptrdiff_t>(at);
    if (std::equal(name.begin(), name.end(), found)) numbers.push_back(at + 12);
  }
  ASSERT_EQ(numbers.size(), 3U);
  for (const std::size_t number : numbers) {
    for (const unsigned value : {0U, 4U, 2U, 1U, 3U}) {
      Bytes bent = file;
      if (bent[number] == static_cast<std::byte>(value)) continue;
      bent[number] = static_cast<std::byte>(value);
      EXPECT_FALSE(keep_metadata(bent, {.shape = {1, 1, 3}}).metadata) << number << " " << value;
    }
  }
}

template <class T>
TiffMetadataField tiff_field(int tag, int type, const std::vector<T>& values) {
  TiffMetadataField field{
      static_cast<std::uint16_t>(tag), static_cast<std::uint16_t>(type), values.size(), {}};
  const auto bytes = std::as_bytes(std::span(values));
  field.data.assign(bytes.begin(), bytes.end());
  return field;
}

// Description and what places a TIFF on a map; `end`: where the text of its one key ends.
Metadata tiff_metadata(std::uint16_t end = 5) {
  Metadata metadata;
  metadata.fields = {tiff_field<char>(270, 2, {'O', 'M', 'E', 0}),
                     tiff_field<double>(33550, 12, {0.5, 0.25, 0}),
                     tiff_field<double>(33922, 12, {0, 0, 0, 100.5, -7, 0}),
                     tiff_field<std::uint16_t>(34735, 3, {1, 1, 0, 2, 1024, 0, 1, 1, 1026, 34737, end, 0}),
                     tiff_field<char>(34737, 2, {'W', 'G', 'S', '|', 0})};
  return metadata;
}

bool same_fields(const std::vector<TiffMetadataField>& a, const std::vector<TiffMetadataField>& b) {
  return std::ranges::equal(a, b, [](const TiffMetadataField& x, const TiffMetadataField& y) {
    return x.tag == y.tag && x.type == y.type && x.count == y.count && x.data == y.data;
  });
}

TEST(Metadata, ATiffKeepsItsDescriptionAndItsPlace) {
  const Metadata given = tiff_metadata();
  const Bytes file = file_with(Format::tiff, given);
  const KeptMetadata kept = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
  ASSERT_TRUE(kept.metadata);
  EXPECT_TRUE(same_fields(kept.metadata->fields, given.fields));
  EXPECT_TRUE(kept.lost.empty());
  const KeptMetadata moved =
      keep_metadata(file, {Format::tiff, {17, 11, 3}, Orientation::upright, true, false});
  EXPECT_EQ(moved.metadata->fields.size(), 1U);
  EXPECT_EQ(lost_metadata_text(moved.lost), "GeoTIFF (the image was moved, turned or resized)");
  const KeptMetadata png = keep_metadata(file, {.output = Format::png, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(png.lost), "GeoTIFF (png holds none)");
  EXPECT_EQ(read_exif(png.metadata->exif).image.at(270).values.size(), 4U) << "in EXIF";
  const KeptMetadata bmp = keep_metadata(file, {.output = Format::bmp, .shape = {17, 11, 3}});
  EXPECT_EQ(bmp.lost.size(), 3U);
}

TEST(Metadata, KeysOfAGeoTiffMustFit) {
  const Bytes file = file_with(Format::tiff, tiff_metadata(6));
  const KeptMetadata kept = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(kept.lost), "GeoTIFF (damaged)");
  EXPECT_EQ(kept.metadata->fields.size(), 1U);
}

TEST(Metadata, ALongDescriptionStaysWithATiff) {
  Metadata given;
  given.fields = {tiff_field<char>(270, 2, std::vector<char>(100'001, 'x'))};
  given.fields[0].data.back() = std::byte{0};
  const Bytes file = file_with(Format::tiff, given);
  EXPECT_EQ(find_mark(std::span(file).first(kMarkBytes)), Mark::result);
  const KeptMetadata kept = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
  EXPECT_TRUE(same_fields(kept.metadata->fields, given.fields));
  const KeptMetadata jpeg = keep_metadata(file, {.output = Format::jpeg, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(jpeg.lost), "description (jpeg holds none)");
}

TEST(Metadata, WritersCountIt) {
  for (const Format format : kHolders) {
    EncodeOptions options;
    const std::int64_t without = make_writer(format, {64, 64, 3}, options)->working_bytes();
    Metadata metadata;
    metadata.icc = Bytes(std::size_t{1} << 20);
    options.metadata = std::make_shared<const Metadata>(metadata);
    EXPECT_GE(make_writer(format, {64, 64, 3}, options)->working_bytes(), without + (2 << 20));
  }
}

}  // namespace
}  // namespace imgpipe::test

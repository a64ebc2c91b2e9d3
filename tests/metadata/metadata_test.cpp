// Metadata: what each format's reader finds and its writer stores.
#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "images/codecs/icc.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/xmp.h"
#include "images/error.h"
#include "images/formats/preserved_metadata.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/metadata_files.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::metadata_test {
namespace {

Bytes rewritten(std::span<const std::byte> block, bool reset = true) {
  ExifBlock parsed = parse_exif(block);
  adapt_exif(parsed, reset ? std::optional(Orientation::upright) : std::nullopt, 640, 480);
  return build_exif(parsed, kMaxExifBytes);
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

TEST(Metadata, EveryFormatRoundTrips) {
  for (const Format format : kHolders) {
    const Metadata given = all_metadata(format);
    const Bytes file = file_with(format, given);
    const std::string name(format_info(format).name);
    EXPECT_TRUE(try_decode(file).reason.empty()) << name << try_decode(file).reason;
    EXPECT_EQ(find_mark(std::span(file).first(std::min(file.size(), kMarkBytes))), Mark::result) << name;
    const PreservedMetadata kept = keep_metadata(file, {.output = format, .shape = {640, 480, 3}});
    ASSERT_TRUE(kept.metadata) << name;
    EXPECT_EQ(kept.metadata->icc, given.icc) << name;
    if (format != Format::tiff) {
      EXPECT_EQ(kept.metadata->exif, given.exif) << name;
    } else {
      const ExifParts read = read_exif(kept.metadata->exif), wanted = read_exif(given.exif);
      ExifFields image = wanted.image;
      image.erase(0x011A);  // the resolution, for which TIFF has its own fields
      EXPECT_TRUE(same_values(read.image, image));
      EXPECT_TRUE(same_values(read.exif, wanted.exif));
      EXPECT_TRUE(same_values(read.gps, wanted.gps));
      EXPECT_TRUE(same_values(read.interoperability, wanted.interoperability));
    }
    EXPECT_EQ(text_of(kept.metadata->xmp), text_of(given.xmp)) << name;
    EXPECT_TRUE(kept.lost.empty()) << name;
    EXPECT_EQ(kept.unpreserved_profile, "") << name;
    if (format == Format::webp) continue;
    ASSERT_TRUE(kept.metadata->resolution) << name;
    const auto dots = kept.metadata->resolution->per_inch(10'000);
    EXPECT_EQ(dots->x, 300U) << name;
    EXPECT_EQ(dots->y, 150U) << name;
  }
}

TEST(Metadata, DoesNotAffectPixels) {
  for (const Format format : kHolders) {
    const Decoded with = try_decode(file_with(format, all_metadata(format)));
    const Decoded without = try_decode(file_with(format, {}));
    EXPECT_EQ(first_difference(without.image.untyped_view(), with.image.untyped_view()), "")
        << format_info(format).name;
  }
}

TEST(Metadata, LargeProfilesRoundTripInEveryFormat) {
  std::mt19937_64 random(3);
  Bytes filler(400'000);
  std::ranges::generate(filler, [&] { return static_cast<std::byte>(random()); });
  const Bytes profile = make_profile("RGB ", {{"desc", text_description("large")}, {"A2B0", filler}});
  for (const Format format : kHolders) {
    Metadata given;
    given.icc = profile;
    const Bytes file = file_with(format, given);
    EXPECT_EQ(find_mark(std::span(file).first(kMarkBytes)), Mark::result);
    const PreservedMetadata kept = keep_metadata(file, {.output = format, .shape = {1, 1, 3}});
    ASSERT_TRUE(kept.metadata);
    EXPECT_EQ(kept.metadata->icc, profile) << format_info(format).name;
  }
}

TEST(Metadata, ProfilesForOtherColourSpacesAreDropped) {
  const Bytes file = file_with(Format::png, all_metadata(Format::png));
  const PreservedMetadata grey = keep_metadata(file, {.output = Format::png, .shape = {1, 1, 1}});
  EXPECT_TRUE(grey.metadata->icc.empty());
  EXPECT_EQ(grey.unpreserved_profile, "Adobe RGB (1998)");
  Metadata cmyk;
  cmyk.icc = make_profile("CMYK", {{"desc", text_description("press")}});
  const PreservedMetadata kept =
      keep_metadata(file_with(Format::jpeg, cmyk), {.output = Format::jpeg, .shape = {1, 1, 3}});
  EXPECT_EQ(kept.unpreserved_profile, "press");
}

TEST(Metadata, UnsupportedMetadataIsReported) {
  const Bytes file = file_with(Format::png, all_metadata(Format::png));
  const PreservedMetadata kept = keep_metadata(file, {.output = Format::tga, .shape = {1, 1, 3}});
  EXPECT_FALSE(kept.metadata);
  EXPECT_EQ(lost_metadata_text(kept.lost),
            "EXIF (tga cannot store it), XMP (tga cannot store it), resolution (tga cannot store it)");
  EXPECT_EQ(kept.unpreserved_profile, "Adobe RGB (1998)");
}

// An invalid orientation is dropped, and so is its block if it contains nothing else.
TEST(Metadata, BlockWithOnlyABadOrientationIsDropped) {
  Metadata given;
  ExifParts parts;
  parts.image[0x0112].values = {9};
  given.exif = parts.build();
  const Bytes file = file_with(Format::png, given);
  for (const Format format : kHolders) {
    const PreservedMetadata kept = keep_metadata(file, {.output = format, .shape = {17, 11, 3}});
    EXPECT_FALSE(kept.metadata) << format_info(format).name;
    EXPECT_TRUE(kept.lost.empty()) << lost_metadata_text(kept.lost);
    EXPECT_EQ(try_decode(file_with(format, kept.metadata ? *kept.metadata : Metadata{})).reason, "");
  }
}

TEST(Metadata, ResolutionFollowsGeometry) {
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

TEST(Metadata, DamagedFilesAreSearchedSafely) {
  std::mt19937_64 random(7);
  for (const Format format : kHolders) {
    const Bytes file = file_with(format, all_metadata(format));
    const ImageChanges use{.output = Format::png, .shape = {17, 11, 3}};
    for (std::size_t bytes = 0; bytes < file.size(); ++bytes)
      EXPECT_NO_THROW((void)keep_metadata(std::span(file).first(bytes), use)) << bytes;
    for (int i = 0; i < 3000; ++i) {
      Bytes bent = file;
      for (int k = 0; k < 3; ++k) bent[random() % bent.size()] = static_cast<std::byte>(random());
      EXPECT_NO_THROW((void)keep_metadata(bent, use)) << i;
    }
  }
}

TEST(Metadata, DecompressionBombProfileIsLimited) {
  Metadata given;
  given.icc = make_profile("RGB ", {{"desc", text_description("zeros")}, {"A2B0", Bytes(3 << 20)}});
  EXPECT_EQ(keep_metadata(file_with(Format::png, given), {.shape = {1, 1, 3}}).metadata->icc, given.icc);
  given.icc = make_profile("RGB ", {{"desc", text_description("zeros")}, {"A2B0", Bytes(5 << 20)}});
  const PreservedMetadata kept = keep_metadata(file_with(Format::png, given), {.shape = {1, 1, 3}});
  EXPECT_FALSE(kept.metadata);
  EXPECT_EQ(kept.unpreserved_profile, "unnamed");
}

TEST(Metadata, ProfilePartsMustBeComplete) {
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

// Returns the description and the georeference of a TIFF; `end`: the end of the text of its only text key.
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

TEST(Metadata, TiffKeepsDescriptionAndGeoreference) {
  const Metadata given = tiff_metadata();
  const Bytes file = file_with(Format::tiff, given);
  const PreservedMetadata kept = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
  ASSERT_TRUE(kept.metadata);
  EXPECT_TRUE(same_fields(kept.metadata->fields, given.fields));
  EXPECT_TRUE(kept.lost.empty());
  const PreservedMetadata moved =
      keep_metadata(file, {Format::tiff, {17, 11, 3}, Orientation::upright, true, false});
  EXPECT_EQ(moved.metadata->fields.size(), 1U);
  EXPECT_EQ(lost_metadata_text(moved.lost), "GeoTIFF (the image was moved, rotated or resized)");
  const PreservedMetadata png = keep_metadata(file, {.output = Format::png, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(png.lost), "GeoTIFF (png cannot store it)");
  EXPECT_EQ(read_exif(png.metadata->exif).image.at(270).values.size(), 4U) << "in EXIF";
  const PreservedMetadata bmp = keep_metadata(file, {.output = Format::bmp, .shape = {17, 11, 3}});
  EXPECT_EQ(bmp.lost.size(), 3U);
}

// ImageJ names the unit of its resolution only in the description; TIFF's resolution unit is "none".
TEST(Metadata, ResolutionInADescribedUnitIsPreserved) {
  Metadata given;
  given.fields = {tiff_field<char>(270, 2, {'u', 'n', 'i', 't', '=', 'u', 'm', 0})};
  given.resolution = Resolution{.x = 20, .x_of = 13, .y = 20, .y_of = 13};
  const Bytes file = file_with(Format::tiff, given);
  const auto kept = [&](Format output, bool scaled = false) {
    return keep_metadata(file, {.output = output, .shape = {17, 11, 3}, .scaled = scaled});
  };
  const PreservedMetadata tiff = kept(Format::tiff);
  ASSERT_TRUE(tiff.metadata->resolution);
  EXPECT_EQ(tiff.metadata->resolution->x, 20U);
  EXPECT_EQ(tiff.metadata->resolution->y_of, 13U);
  EXPECT_TRUE(tiff.lost.empty());
  EXPECT_EQ(lost_metadata_text(kept(Format::tiff, true).lost), "resolution (resized)");
  EXPECT_FALSE(kept(Format::png).metadata->resolution);
  EXPECT_EQ(lost_metadata_text(kept(Format::png).lost), "");
  given.resolution = Resolution();  // a resolution without a unit
  const Bytes nothing = file_with(Format::tiff, given);
  const ImageChanges resized{.output = Format::tiff, .shape = {17, 11, 3}, .scaled = true};
  EXPECT_EQ(lost_metadata_text(keep_metadata(nothing, resized).lost), "");
}

// These descriptions depend on the pixels: tifffile's contain the shape, OME-XML the sizes, and ImageJ's a
// unit for the size of a pixel.
TEST(Metadata, DescriptionOfChangedPixelsIsDropped) {
  const auto lost = [](std::string_view text, bool scaled, bool reshaped) {
    Metadata given;
    given.fields = {tiff_field<char>(270, 2, std::vector<char>(text.begin(), text.end()))};
    given.fields[0].data.push_back(std::byte{0});
    ++given.fields[0].count;
    const ImageChanges use{.output = Format::tiff,
                           .shape = {17, 11, 3},
                           .scaled = scaled,
                           .reshaped = reshaped ? "image size changed" : ""};
    return lost_metadata_text(keep_metadata(file_with(Format::tiff, given), use).lost);
  };
  constexpr std::string_view kShaped = "{\"shape\": [11, 17, 3]}";
  constexpr std::string_view kOme = "<?xml version=\"1.0\"?><OME></OME>";
  constexpr std::string_view kImageJ = "ImageJ=1.54f\nunit=um\n";
  EXPECT_EQ(lost(kShaped, false, false), "");
  EXPECT_EQ(lost(kShaped, false, true), "tifffile description (image size changed)");
  EXPECT_EQ(lost(kOme, false, false), "");
  EXPECT_EQ(lost(kOme, false, true), "OME-XML (image size changed)");
  EXPECT_EQ(lost(kImageJ, false, true), "");
  EXPECT_EQ(lost(kImageJ, true, true), "ImageJ description (image was resized)");
  EXPECT_EQ(lost("a cell", true, true), "");
}

// min= and max= are the samples that ImageJ shows as black and white.
TEST(Metadata, ImageJDisplayRangeIsDroppedIfSamplesChange) {
  const auto with = [](std::string_view text) {
    Metadata given;
    given.fields = {tiff_field<char>(270, 2, std::vector<char>(text.begin(), text.end()))};
    return file_with(Format::tiff, given);
  };
  const auto kept = [&](std::string_view text, Format output, bool revalued) {
    return keep_metadata(with(text), {.output = output, .shape = {17, 11, 3}, .revalued = revalued});
  };
  constexpr std::string_view kGone = "ImageJ's display range (sample values changed)";
  using namespace std::string_view_literals;
  for (const auto& [before, after] :
       {std::pair{"ImageJ=1.54f\nunit=um\nmin=3.0\nmax=99.0\nloop=false\n\0"sv,
                  "ImageJ=1.54f\nunit=um\nloop=false\n\0"sv},
        {"ImageJ=1.54f\nmin=0\nmax=7\0"sv, "ImageJ=1.54f\n\0"sv},
        {"ImageJ=1\nmax=5\nrmin=1\nminimum=2\n\0"sv, "ImageJ=1\nrmin=1\nminimum=2\n\0"sv}}) {
    const PreservedMetadata changed = kept(before, Format::tiff, true);
    ASSERT_EQ(changed.metadata->fields.size(), 1U);
    const TiffMetadataField& field = changed.metadata->fields[0];
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(field.data.data()), field.data.size()), after);
    EXPECT_EQ(field.count, after.size());
    EXPECT_EQ(lost_metadata_text(changed.lost), kGone);
    const PreservedMetadata same = kept(before, Format::tiff, false);
    EXPECT_EQ(same.metadata->fields[0].count, before.size());
    EXPECT_EQ(lost_metadata_text(same.lost), "");
  }
  for (const std::string_view text : {"min=3\nmax=9\n\0"sv, "ImageJ=1.54f\nunit=um\n\0"sv, "ImageJ=\0"sv}) {
    const PreservedMetadata changed = kept(text, Format::tiff, true);
    EXPECT_EQ(changed.metadata->fields[0].count, text.size()) << text;
    EXPECT_EQ(lost_metadata_text(changed.lost), "") << text;
  }
  EXPECT_EQ(lost_metadata_text(kept("ImageJ=1\nmin=3\n\0"sv, Format::jpeg, true).lost).find("min"),
            std::string::npos);
}

TEST(Metadata, GeoTiffKeysMustFit) {
  const Bytes file = file_with(Format::tiff, tiff_metadata(6));
  const PreservedMetadata kept = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(kept.lost), "GeoTIFF (damaged)");
  EXPECT_EQ(kept.metadata->fields.size(), 1U);
}

TEST(Metadata, TiffKeepsALongDescription) {
  Metadata given;
  given.fields = {tiff_field<char>(270, 2, std::vector<char>(100'001, 'x'))};
  given.fields[0].data.back() = std::byte{0};
  const Bytes file = file_with(Format::tiff, given);
  EXPECT_EQ(find_mark(std::span(file).first(kMarkBytes)), Mark::result);
  const PreservedMetadata kept = keep_metadata(file, {.output = Format::tiff, .shape = {17, 11, 3}});
  EXPECT_TRUE(same_fields(kept.metadata->fields, given.fields));
  const PreservedMetadata jpeg = keep_metadata(file, {.output = Format::jpeg, .shape = {17, 11, 3}});
  EXPECT_EQ(lost_metadata_text(jpeg.lost), "description (jpeg cannot store it)");
}

TEST(Metadata, WritersCountItsMemory) {
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
}  // namespace imgpipe::test::metadata_test

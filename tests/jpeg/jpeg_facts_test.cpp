// The contents of a JPEG besides its image: many segments, EXIF, profiles, data after its end.
#include <algorithm>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/file_parts.h"
#include "tests/support/images.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::jpeg_facts_test {
namespace {

Bytes segment(unsigned marker, const Bytes& payload) {
  return number(0xFF00 | marker, 2) + number(static_cast<std::uint32_t>(payload.size() + 2), 2) + payload;
}

// Inserts bytes before all other segments.
Bytes jpeg_with(const Bytes& segments) {
  const Bytes plain = encoded(Format::jpeg);
  return Bytes(plain.begin(), plain.begin() + 2) + segments + Bytes(plain.begin() + 2, plain.end());
}

Bytes exif_segment() {
  return segment(0xE1, bytes_of(std::string_view("Exif\0\0", 6)) + turned_exif());
}

Bytes empty_segments(std::size_t count) {
  Bytes out;
  const Bytes one = segment(0xE1, {});
  for (std::size_t i = 0; i < count; ++i) out.insert(out.end(), one.begin(), one.end());
  return out;
}

// When libjpeg saved the markers in its list, the first file below took 8 s.
TEST(JpegFacts, ManySegmentsTakeLinearTime) {
  const Bytes many = jpeg_with(empty_segments(60'000) + exif_segment());
  const Bytes too_many = jpeg_with(empty_segments(3'000'000));
  for (const bool lenient : {false, true}) {
    DecodeOptions options;
    options.accept = lenient ? Acceptance::lenient : Acceptance::strict;
    EXPECT_LT(seconds_of([&] {
                const Decoded result = try_decode(many, options);
                EXPECT_EQ(result.reason, "");
                EXPECT_EQ(result.header.orientation, Orientation::rotate_90);
              }),
              1.5);
    EXPECT_LT(seconds_of([&] {
                EXPECT_EQ(try_decode(too_many, options).reason, "JPEG: more than 65536 header segments");
              }),
              1.5);
  }
}

TEST(JpegFacts, FirstExifSegmentApplies) {
  const Bytes xmp = segment(0xE1, bytes_of(std::string_view("http://ns.adobe.com/xap/1.0/\0<x/>", 33)));
  EXPECT_EQ(try_decode(jpeg_with(xmp + exif_segment())).header.orientation, Orientation::rotate_90);
  const Bytes empty = segment(0xE1, bytes_of(std::string_view("Exif\0\0", 6)));
  EXPECT_EQ(try_decode(jpeg_with(xmp + empty)).header.orientation, Orientation::upright);
  EXPECT_EQ(try_decode(encoded(Format::jpeg)).header.orientation, Orientation::upright);
}

// Returns the payload of a profile's segment; `count` is the number that all segments declare.
Bytes profile_segment(unsigned index, unsigned count, const Bytes& part) {
  return segment(
      0xE2, bytes_of(std::string_view("ICC_PROFILE\0", 12)) + number(index, 1) + number(count, 1) + part);
}

TEST(JpegFacts, ProfilesAreJoined) {
  const Bytes whole = adobe_profile();
  const auto part = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    return Bytes(whole.begin() + from, to < 0 ? whole.end() : whole.begin() + to);
  };
  const auto name_of = [](const Bytes& segments) {
    const Decoded result = try_decode(jpeg_with(segments));
    EXPECT_EQ(result.reason, "");
    EXPECT_EQ(result.warnings, Strings());
    return result.header.profile;
  };
  EXPECT_EQ(name_of({}), "");
  EXPECT_EQ(name_of(profile_segment(1, 1, whole)), "Adobe RGB (1998)");
  EXPECT_EQ(name_of(profile_segment(2, 3, part(100, 240)) + profile_segment(3, 3, part(240, -1)) +
                    profile_segment(1, 3, part(0, 100))),
            "Adobe RGB (1998)")
      << "in any order";
  EXPECT_EQ(name_of(profile_segment(2, 2, part(100, -1))), "unnamed") << "the first is missing";
  EXPECT_EQ(name_of(profile_segment(1, 1, {})), "unnamed");
  EXPECT_EQ(
      name_of(profile_segment(1, 1, matrix_profile(kSrgbPrimaries, srgb_curve(), text_description("c2")))),
      "");
  Bytes long_one = whole;
  long_one.resize(65'000);
  Bytes all;
  for (unsigned i = 1; i <= 255; ++i)
    std::ranges::copy(profile_segment(i, 255, long_one), std::back_inserter(all));
  EXPECT_EQ(name_of(all), "Adobe RGB (1998)") << "16 MB of it are not all looked at";
}

TEST(JpegFacts, DataAfterTheEnd) {
  const Bytes plain = encoded(Format::jpeg);
  const Bytes camera = jpeg_with(exif_segment());
  const Bytes pair = jpeg_with(segment(0xE2, bytes_of(std::string_view("MPF\0", 4)) + number(0)));
  const Bytes zeros(5000, std::byte{0});
  const Bytes film = number(24) + bytes_of("ftypmp42") + zeros;
  const Bytes longer_box = number(32) + bytes_of("ftypheic") + zeros;  // a length of 32 looks like a space
  const Bytes samsung = bytes_of("anything") + bytes_of("SEFHxxxxxxxxSEFT");
  for (const Bytes& good : {plain + zeros, plain + Bytes(7, std::byte{0xFF}), plain + bytes_of("\r\n"),
                            plain + film, plain + longer_box, plain + zeros + film, plain + samsung,
                            pair + plain, pair + zeros + plain, camera + film}) {
    EXPECT_EQ(try_decode(good).reason, "");
    EXPECT_EQ(try_decode(good).warnings, Strings());
    EXPECT_EQ(decode_leniently(good).warnings, Strings());
  }
  const std::string two = std::to_string(plain.size()) + " bytes follow the image (another image?)";
  const std::string padded = std::to_string(plain.size() + 3) + " bytes follow the image (another image?)";
  const std::pair<Bytes, std::string> whole[] = {
      {plain + plain, two},
      {plain + Bytes(3, std::byte{0xFF}) + plain, padded},
      {plain + bytes_of("x"), "1 byte follows the image"},
      {plain + Bytes(60'000, std::byte{7}), "60000 bytes follow the image"},
      {camera + plain, two},
      {camera + bytes_of("garbage"), "7 bytes follow the image"}};
  const auto begins_with = [&](const Bytes& file) {
    return std::equal(plain.begin(), plain.end(), file.begin()) ? plain : camera;
  };
  for (const auto& [file, warning] : whole) {
    const Decoded strict = try_decode(file);
    EXPECT_EQ(strict.reason, "");
    EXPECT_EQ(strict.warnings, Strings{warning});
    EXPECT_EQ(decode_leniently(file).warnings, Strings{warning});
    EXPECT_EQ(first_difference(strict.image.view(), try_decode(begins_with(file)).image.view()), "");
  }
  // Data after the end does not replace missing data.
  for (const std::size_t missing : {std::size_t{3}, plain.size() / 4}) {
    const Bytes broken(plain.begin(), plain.end() - static_cast<std::ptrdiff_t>(missing));
    EXPECT_NE(try_decode(broken + bytes_of("x")).reason, "");
    EXPECT_NE(try_decode(broken + bytes_of("\xFF\xD9 trailer")).reason, "");
    EXPECT_NE(try_decode(broken + plain).reason, "");
  }
  // Scans after an end marker belong to the image, which is damaged.
  for (const char* scan : {"\xFF\xDA", "\xFF\xC4"})
    EXPECT_EQ(try_decode(plain + bytes_of(scan) + Bytes(100)).reason,
              "JPEG: end marker before the last scan");
}

TEST(JpegFacts, HasEightBits) {
  EXPECT_EQ(try_decode(encoded(Format::jpeg)).header.bits_per_sample, 8);
}

}  // namespace
}  // namespace imgpipe::test::jpeg_facts_test

// What JPEG, PNG and Netpbm files hold besides their picture: many segments, profiles, EXIF in odd places,
// further images, bytes behind the end, wrong checksums, how many bits.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <zlib.h>

#include "images/codec.h"
#include "images/deflate.h"
#include "images/error.h"
#include "images/image.h"
#include "images/sniff.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/profiles.h"

namespace imgpipe::test {
namespace {

using Bytes = std::vector<std::byte>;

struct Decoded {
  ImageHeader header;
  Image image;
  std::vector<std::string> warnings;
  std::string reason;  // why not; then there is no image
};

Decoded decode(const Bytes& bytes, const DecodeOptions& options = {}) {
  Decoded result;
  try {
    const auto reader = open_reader(bytes, options);
    result.header = reader->header();
    Image image(reader->header().shape);
    reader->read_rows(image.view());
    result.image = std::move(image);
    result.warnings = reader->warnings();
  } catch (const Error& error) {
    result.reason = error.what();
  }
  return result;
}

Decoded decode_leniently(const Bytes& bytes) {
  DecodeOptions options;
  options.lenient = true;
  return decode(bytes, options);
}

using Strings = std::vector<std::string>;

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes number(std::uint32_t value, int bytes = 4) {
  Bytes out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
  return out;
}

Bytes encoded(Format format, int channels = 3) {
  const Image image =
      channels == 2 ? Image({16, 12, 2}) : synthesize(parse_pattern("photo"), {16, 12, channels}, 1);
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(image.view());
  return writer->finish().joined();
}

// A TIFF structure that says "turn by 90 degrees".
Bytes turned_exif() {
  return bytes_of("MM") + number(42, 2) + number(8) + number(1, 2) + number(0x0112, 2) + number(3, 2) +
         number(1) + number(6, 2) + number(0, 2) + number(0);
}

// ---- JPEG -------------------------------------------------------------------------------------------

Bytes segment(unsigned marker, const Bytes& payload) {
  return number(0xFF00 | marker, 2) + number(static_cast<std::uint32_t>(payload.size() + 2), 2) + payload;
}

// With bytes in front of all other segments.
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

double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// libjpeg's list of kept markers cost 8 s for the first of these.
TEST(JpegFacts, ManySegmentsCostNoMoreThanTheirBytes) {
  const Bytes many = jpeg_with(empty_segments(60'000) + exif_segment());
  const Bytes too_many = jpeg_with(empty_segments(3'000'000));
  for (const bool lenient : {false, true}) {
    DecodeOptions options;
    options.lenient = lenient;
    EXPECT_LT(seconds_of([&] {
                const Decoded result = decode(many, options);
                EXPECT_EQ(result.reason, "");
                EXPECT_EQ(result.header.orientation, Orientation::rotate_90);
              }),
              1.5);
    EXPECT_LT(seconds_of([&] {
                EXPECT_EQ(decode(too_many, options).reason, "JPEG: more than 65536 header segments");
              }),
              1.5);
  }
}

TEST(JpegFacts, TheFirstExifSegmentCounts) {
  const Bytes xmp = segment(0xE1, bytes_of(std::string_view("http://ns.adobe.com/xap/1.0/\0<x/>", 33)));
  EXPECT_EQ(decode(jpeg_with(xmp + exif_segment())).header.orientation, Orientation::rotate_90);
  const Bytes empty = segment(0xE1, bytes_of(std::string_view("Exif\0\0", 6)));
  EXPECT_EQ(decode(jpeg_with(xmp + empty)).header.orientation, Orientation::upright);
  EXPECT_EQ(decode(encoded(Format::jpeg)).header.orientation, Orientation::upright);
}

// The payload of a profile's segment; `count` is what all of them say.
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
    const Decoded result = decode(jpeg_with(segments));
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

TEST(JpegFacts, WhatFollowsTheEnd) {
  const Bytes plain = encoded(Format::jpeg);
  const Bytes camera = jpeg_with(exif_segment());
  const Bytes pair = jpeg_with(segment(0xE2, bytes_of(std::string_view("MPF\0", 4)) + number(0)));
  const Bytes zeros(5000, std::byte{0});
  const Bytes film = number(24) + bytes_of("ftypmp42") + zeros;
  const Bytes longer_box = number(32) + bytes_of("ftypheic") + zeros;  // 32 is white space
  const Bytes samsung = bytes_of("anything") + bytes_of("SEFHxxxxxxxxSEFT");
  for (const Bytes& good : {plain + zeros, plain + Bytes(7, std::byte{0xFF}), plain + bytes_of("\r\n"),
                            plain + film, plain + longer_box, plain + zeros + film, plain + samsung,
                            pair + plain, pair + zeros + plain, camera + film}) {
    EXPECT_EQ(decode(good).reason, "");
    EXPECT_EQ(decode(good).warnings, Strings());
    EXPECT_EQ(decode_leniently(good).warnings, Strings());
  }
  const std::string two = std::to_string(plain.size()) + " bytes follow the image (another image?)";
  EXPECT_EQ(decode(plain + plain).reason, "JPEG: " + two);
  EXPECT_EQ(decode(plain + Bytes(3, std::byte{0xFF}) + plain).reason,
            "JPEG: " + std::to_string(plain.size() + 3) + " bytes follow the image (another image?)");
  EXPECT_EQ(decode(plain + bytes_of("x")).reason, "JPEG: 1 byte follows the image");
  EXPECT_EQ(decode_leniently(plain + plain).warnings, Strings{two});
  EXPECT_EQ(decode(camera + plain).warnings, Strings{two}) << "a maker's own appendix";
  EXPECT_EQ(decode(camera + bytes_of("garbage")).warnings, Strings{"7 bytes follow the image"});
  EXPECT_EQ(decode(camera + bytes_of("garbage")).reason, "");
}

TEST(JpegFacts, BitsAreEight) {
  EXPECT_EQ(decode(encoded(Format::jpeg)).header.bits_per_sample, 8);
}

// ---- PNG --------------------------------------------------------------------------------------------

Bytes chunk(const char* type, const Bytes& data) {
  const Bytes covered = bytes_of(std::string_view(type, 4)) + data;
  return number(static_cast<std::uint32_t>(data.size())) + covered + number(crc32_of(covered));
}

Bytes deflated(const Bytes& data) {
  uLongf size = compressBound(data.size());
  Bytes out(size);
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
            data.size(), 9);
  out.resize(size);
  return out;
}

Bytes signature() {
  return bytes_of("\x89PNG\r\n\x1A\n");
}

// 4 columns of 2 rows, all zeros, of any type and depth; `colors` bytes of palette.
struct Small {
  unsigned depth = 8;
  unsigned color_type = 0;
  unsigned channels = 1;
  Bytes before, behind;  // chunks around the pixels

  [[nodiscard]] Bytes head() const {
    return signature() +
           chunk("IHDR", number(4) + number(2) + number(depth, 1) + number(color_type, 1) + number(0, 3));
  }
  [[nodiscard]] Bytes stream() const { return deflated(Bytes(2 * (1 + (4 * channels * depth + 7) / 8))); }
  [[nodiscard]] Bytes file() const {
    return head() + before + chunk("IDAT", stream()) + behind + chunk("IEND", {});
  }
};

TEST(PngFacts, BitsAreThoseOfASample) {
  const Bytes palette = chunk("PLTE", Bytes(6));
  for (const unsigned depth : {1U, 2U, 4U, 8U}) {
    EXPECT_EQ(decode(Small{depth, 0, 1, {}, {}}.file()).header.bits_per_sample, static_cast<int>(depth));
    const Decoded indexed = decode(Small{depth, 3, 1, palette, {}}.file());
    EXPECT_EQ(indexed.reason, "");
    EXPECT_EQ(indexed.header.bits_per_sample, 8) << "the palette's";
  }
  for (const auto& [type, channels] : {std::pair{0U, 1U}, {2U, 3U}, {4U, 2U}, {6U, 4U}}) {
    EXPECT_EQ(decode(Small{8, type, channels, {}, {}}.file()).header.bits_per_sample, 8);
    EXPECT_EQ(decode(Small{16, type, channels, {}, {}}.file()).header.bits_per_sample, 16);
  }
  const Bytes significant = chunk("sBIT", number(10, 1));
  EXPECT_EQ(decode(Small{16, 0, 1, significant, {}}.file()).header.bits_per_sample, 16) << "as stored";
}

TEST(PngFacts, ExifBeforeOrBehindThePixels) {
  const Bytes exif = chunk("eXIf", turned_exif());
  for (const unsigned depth : {8U, 16U}) {
    const Decoded early = decode(Small{depth, 0, 1, exif, {}}.file());
    const Decoded late = decode(Small{depth, 0, 1, {}, exif}.file());
    EXPECT_EQ(early.header.orientation, Orientation::rotate_90);
    EXPECT_EQ(late.header.orientation, Orientation::rotate_90);
    EXPECT_EQ(late.image.shape(), (Shape{2, 4, 1}));
    EXPECT_EQ(late.reason, "");
  }
  Bytes wrong = exif;
  wrong.back() ^= std::byte{1};
  EXPECT_NE(decode(Small{8, 0, 1, {}, wrong}.file()).reason, "") << "its CRC is wrong";
  const Decoded lenient = decode_leniently(Small{8, 0, 1, {}, wrong}.file());
  EXPECT_EQ(lenient.header.orientation, Orientation::upright);
  EXPECT_EQ(lenient.warnings.size(), 1U);
}

TEST(PngFacts, Profiles) {
  const auto name_of = [](const Bytes& compressed) {
    const Bytes data = bytes_of(std::string_view("ICC profile\0\0", 13)) + compressed;
    const Decoded result = decode(Small{8, 2, 3, chunk("iCCP", data), {}}.file());
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
  EXPECT_EQ(name_of(cut), "Adobe RGB (1998)") << "its checksum is no affair of the picture";
  const Bytes bomb = deflated(adobe_profile() + Bytes(64'000'000));
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(name_of(bomb), "Adobe RGB (1998)"); }), 1.0);
  EXPECT_EQ(decode(Small{8, 2, 3, chunk("iCCP", bytes_of("no zero")), {}}.file()).header.profile, "unnamed");
}

TEST(PngFacts, FurtherFramesAreTold) {
  const Bytes control = chunk("fcTL", number(0) + number(4) + number(2) + Bytes(14));
  const auto animation = [](unsigned frames) { return chunk("acTL", number(frames) + number(0)); };
  const auto more = [](const Bytes& before) {
    const Decoded result = decode(Small{8, 0, 1, before, {}}.file());
    EXPECT_EQ(result.reason, "");
    return result.header.more_images;
  };
  EXPECT_FALSE(more({}));
  EXPECT_FALSE(more(animation(1) + control)) << "the picture is the only frame";
  EXPECT_TRUE(more(animation(2) + control));
  EXPECT_TRUE(more(animation(1))) << "the picture is none of its frames";
}

TEST(PngFacts, BytesBehindTheEnd) {
  for (const unsigned depth : {8U, 16U}) {
    const Bytes file = Small{depth, 0, 1, {}, {}}.file();
    EXPECT_EQ(decode(file + bytes_of("x")).reason, "PNG: 1 byte follows the image");
    EXPECT_EQ(decode(file + Bytes(70)).reason, "PNG: 70 bytes follow the image");
    const std::string two = std::to_string(file.size()) + " bytes follow the image (another image?)";
    EXPECT_EQ(decode(file + file).reason, "PNG: " + two);
    const Decoded lenient = decode_leniently(file + file);
    EXPECT_EQ(lenient.reason, "");
    EXPECT_EQ(lenient.warnings, Strings{two});
  }
}

// Each kind of wrong checksum, and an end that is missing: an error, or a warning with --lenient.
TEST(PngFacts, LenientWarnsOfEveryWrongChecksum) {
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
    EXPECT_NE(decode(bad).reason, "");
    const Decoded lenient = decode_leniently(bad);
    EXPECT_EQ(lenient.reason, "");
    ASSERT_EQ(lenient.warnings.size(), 1U);
    EXPECT_TRUE(lenient.warnings[0].starts_with("damaged PNG: ")) << lenient.warnings[0];
    EXPECT_EQ(first_difference(picture.image.view(), lenient.image.view()), "");
  }
  EXPECT_EQ(decode_leniently(idat_crc).warnings, Strings{"damaged PNG: IDAT: CRC error (1 chunks)"});
}

// libpng does not look into IDAT chunks that begin behind the last pixel. Files of every kind are judged
// alike, those that our own reader takes (8 bits) and those that libpng reads.
TEST(PngFacts, DataBehindACompletePicture) {
  for (const unsigned depth : {8U, 16U}) {
    const Small small{depth, 0, 1, {}, {}};
    const Bytes expected = chunk("IDAT", small.stream());
    EXPECT_EQ(decode(small.head() + expected + chunk("IDAT", bytes_of("more")) + chunk("IEND", {})).reason,
              "");
    EXPECT_EQ(decode(small.head() + expected + chunk("IDAT", {}) + chunk("IEND", {})).reason, "");
    EXPECT_NE(
        decode(small.head() + chunk("IDAT", small.stream() + bytes_of("more")) + chunk("IEND", {})).reason,
        "")
        << "in the chunk that holds the stream's end it does look";
    Bytes bent = chunk("IDAT", bytes_of("more"));
    bent.back() ^= std::byte{1};
    EXPECT_NE(decode(small.head() + expected + bent + chunk("IEND", {})).reason, "") << "a wrong CRC";
  }
}

// ---- Netpbm -----------------------------------------------------------------------------------------

TEST(NetpbmFacts, BitsAreThoseOfTheMaximum) {
  for (const auto& [maximum, bits] : {std::pair{1, 1},
                                      {2, 2},
                                      {3, 2},
                                      {100, 7},
                                      {255, 8},
                                      {256, 9},
                                      {1023, 10},
                                      {4095, 12},
                                      {4096, 13},
                                      {65535, 16}}) {
    const std::string plain = "P2 2 1 " + std::to_string(maximum) + " 0 1";
    EXPECT_EQ(decode(bytes_of(plain)).header.bits_per_sample, bits) << maximum;
    const std::string raw =
        "P5 1 1 " + std::to_string(maximum) + "\n" + std::string(maximum > 255 ? 2 : 1, '\0');
    EXPECT_EQ(decode(bytes_of(raw)).header.bits_per_sample, bits) << maximum;
  }
  EXPECT_EQ(decode(bytes_of("P1 1 1 1")).header.bits_per_sample, 1);
}

TEST(NetpbmFacts, BytesBehindTheImage) {
  struct Row {
    const char* file;
    const char* what;  // nullptr: nothing is wrong
  };
  const Row rows[] = {{"P5 2 1 255\nab", nullptr},
                      {"P5 2 1 255\nab\n", nullptr},
                      {"P5 2 1 255\nab \r\n\t ", nullptr},
                      {"P2 2 1 255\n1 2", nullptr},
                      {"P2 2 1 255\n1 2\n\n", nullptr},
                      {"P2 2 1 255\n1 2\n# made by hand\n", nullptr},
                      {"P1 2 1\n01\n", nullptr},
                      {"P5 2 1 255\nabc", "1 byte follows the image"},
                      {"P5 2 1 255\nab\nP5 2 1 255\ncd", "14 bytes follow the image (another image?)"},
                      {"P5 2 1 255\nabP5 2 1 255\ncd", "13 bytes follow the image (another image?)"},
                      {"P6 1 1 255\nabcd", "1 byte follows the image"},
                      {"P4 9 1\nabc", "1 byte follows the image"},
                      {"P2 2 1 255\n1 2 3", "1 byte follows the image"},
                      {"P3 1 1 9\n1 2 3 P3 1 1 9 1 2 3", "14 bytes follow the image (another image?)"},
                      {"P1 2 1\n011", "1 byte follows the image"}};
  for (const Row& row : rows) {
    const Bytes file = bytes_of(row.file);
    const Decoded lenient = decode_leniently(file);
    EXPECT_EQ(decode(file).reason, row.what == nullptr ? "" : std::string("Netpbm: ") + row.what) << row.file;
    EXPECT_EQ(lenient.reason, "") << row.file;
    EXPECT_EQ(lenient.warnings, row.what == nullptr ? Strings() : Strings{row.what}) << row.file;
  }
}

TEST(NetpbmFacts, PnmIsWrittenAsWhatTheImageIs) {
  EXPECT_EQ(format_by_ending("a.PNM"), Format::pnm);
  const auto text = [](const Bytes& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), 2);
  };
  EXPECT_EQ(text(encoded(Format::pnm, 1)), "P5");
  EXPECT_EQ(text(encoded(Format::pnm, 2)), "P5");
  EXPECT_EQ(text(encoded(Format::pnm, 3)), "P6");
  EXPECT_EQ(text(encoded(Format::ppm, 1)), "P6");
  EXPECT_EQ(encoded(Format::pnm, 3), encoded(Format::ppm, 3));
}

// ---- real files -------------------------------------------------------------------------------------

TEST(InputFactsCorpus, FilesThatWereGotWrong) {
  IMGPIPE_NEED_CORPUS();
  const auto folder = *corpus() / "found";
  EXPECT_EQ(decode(load(folder / "app1_20000.jpg")).reason, "");
  EXPECT_EQ(decode(load(folder / "exif_late.png")).header.orientation, Orientation::rotate_90);
  for (const char* name : {"stricter1.png", "stricter2.png", "stricter3.png"})
    EXPECT_EQ(decode(load(folder / name)).reason, "") << name;
}

// By GIMP and by HP, whose descriptions differ.
TEST(InputFactsCorpus, SrgbProfilesAreNotNamed) {
  IMGPIPE_NEED_CORPUS();
  for (const char* name :
       {"found/exif_late.png", "photos/skimage_astronaut.png", "photos/skimage_hubble_deep_field.jpg"})
    EXPECT_EQ(decode(load(*corpus() / name)).header.profile, "") << name;
}

TEST(InputFactsCorpus, NoValidPngIsWarnedOf) {
  IMGPIPE_NEED_CORPUS();
  for (const auto& path : files_below(*corpus() / "pngsuite/valid")) {
    const Decoded lenient = decode_leniently(load(path));
    EXPECT_EQ(lenient.reason, "") << path;
    EXPECT_EQ(lenient.warnings, Strings()) << path;
    EXPECT_EQ(first_difference(decode(load(path)).image.view(), lenient.image.view()), "") << path;
  }
}

TEST(InputFactsCorpus, NoPhotographIsRefusedForWhatFollowsIt) {
  IMGPIPE_NEED_CORPUS();
  for (const char* part : {"photos", "jpeg/exif_recurser", "pngsuite/valid"}) {
    for (const auto& path : files_below(*corpus() / part)) EXPECT_EQ(decode(load(path)).reason, "") << path;
  }
}

}  // namespace
}  // namespace imgpipe::test

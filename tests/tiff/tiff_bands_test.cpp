// Tests which samples of a TIFF become the image, by ExtraSamples and by --bands.
#include <random>

#include <gtest/gtest.h>
#include <tiffio.h>

#include "images/codecs/codec.h"
#include "images/codecs/file_details.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "tests/support/file_parts.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_bands_test {
namespace {

constexpr int kUnspecified = 0, kPremultiplied = 1, kStraight = 2;

Values random_samples(const TiffKind& kind) {
  std::mt19937 random(7);
  Values values(static_cast<std::size_t>(kind.width * kind.height * kind.samples));
  for (int& value : values) value = static_cast<int>(random() % (1U << kind.bits));
  return values;
}

// Returns the samples of some bands, in order.
Values picked(const TiffKind& kind, const Values& all, const std::vector<int>& bands) {
  Values out;
  for (std::size_t at = 0; at < all.size(); at += static_cast<std::size_t>(kind.samples))
    for (const int band : bands) out.push_back(all[at + static_cast<std::size_t>(band - 1)]);
  return out;
}

DecodeOptions selecting(std::vector<int> bands) {
  DecodeOptions options = sixteen_bits();
  options.bands = std::move(bands);
  return options;
}

DecodeOptions colors_only() {
  DecodeOptions options = sixteen_bits();
  options.colors_only = true;
  return options;
}

TiffKind bands_of(int samples, int photometric = PHOTOMETRIC_MINISBLACK) {
  TiffKind kind{.width = 19, .height = 13, .samples = samples, .photometric = photometric};
  const int colors = photometric == PHOTOMETRIC_RGB ? 3 : 1;
  kind.extra.assign(static_cast<std::size_t>(samples - colors), kUnspecified);
  return kind;
}

void expect_bands(const TiffKind& kind, const DecodeOptions& options, const std::vector<int>& bands) {
  const Values all = random_samples(kind);
  const FileBytes file = make_tiff(kind, all);
  ASSERT_EQ(failure(file, options), "");
  const Values expected = picked(kind, all, bands);
  EXPECT_EQ(samples(decode(file, options)), expected);
  EXPECT_EQ(samples(decode_in_bands(file, 3, options)), expected);
  EXPECT_EQ(open_reader(file, options)->header().shape.channels, static_cast<int>(bands.size()));
}

TEST(TiffBands, AreSelectedInEveryLayout) {
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_PACKBITS, COMPRESSION_LZW,
                                COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD}) {
    for (const int bits : {8, 16}) {
      for (const bool separate : {false, true}) {
        for (const int tile : {0, 16}) {
          for (const bool big_endian : {false, true}) {
            TiffKind kind = bands_of(5);
            kind.bits = bits;
            kind.compression = compression;
            kind.separate = separate;
            kind.tile_width = kind.tile_height = tile;
            kind.rows_per_strip = tile == 0 ? 5 : 0;
            kind.big_endian = big_endian;
            if (compression >= COMPRESSION_LZW && compression != COMPRESSION_PACKBITS) kind.predictor = 2;
            SCOPED_TRACE(std::to_string(compression) + " " + std::to_string(bits) +
                         (separate ? " separate" : "") + (tile > 0 ? " tiles" : ""));
            for (const std::vector<int>& bands : {std::vector{4, 3, 2}, {1, 2, 3}, {5, 5, 1}, {5}, {1}})
              ASSERT_NO_FATAL_FAILURE(expect_bands(kind, selecting(bands), bands));
          }
        }
      }
    }
  }
}

TEST(TiffBands, ThreeUnspecifiedBandsAreColours) {
  for (const int bits : {8, 16}) {
    for (const bool separate : {false, true}) {
      TiffKind kind = bands_of(3);
      kind.bits = bits;
      kind.separate = separate;
      expect_bands(kind, sixteen_bits(), {1, 2, 3});
      kind.extra = {};  // no ExtraSamples field
      expect_bands(kind, sixteen_bits(), {1, 2, 3});
    }
  }
}

TEST(TiffBands, DroppingABandIsRejected) {
  const TiffKind near_infrared = bands_of(4, PHOTOMETRIC_RGB);
  TiffKind alpha_and_more = bands_of(5, PHOTOMETRIC_RGB);
  alpha_and_more.extra = {kStraight, kUnspecified};
  TiffKind alpha_comes_last = bands_of(3);
  alpha_comes_last.extra = {kUnspecified, kStraight};
  for (const TiffKind& kind :
       {bands_of(2), bands_of(4), bands_of(7), near_infrared, alpha_and_more, alpha_comes_last}) {
    const FileBytes file = make_tiff(kind, random_samples(kind));
    EXPECT_NE(failure(file).find("such as --bands "), std::string::npos) << failure(file);
    EXPECT_NE(failure(file, lenient()), "") << "dropped bands are not damage";
    EXPECT_NE(describe_tiff(file).bands_needed, "");
  }
  const FileBytes file = make_tiff(near_infrared, random_samples(near_infrared));
  EXPECT_EQ(
      failure(file),
      "TIFF: 1 of the image's 4 bands cannot be preserved; process each as a grey image with --bands all, "
      "choose one or three, such as --bands 1,2,3, or leave them out with --bands color");
  expect_bands(near_infrared, colors_only(), {1, 2, 3});
  expect_bands(near_infrared, selecting({4, 1, 2}), {4, 1, 2});
  expect_bands(alpha_and_more, colors_only(), {1, 2, 3, 4});
  expect_bands(bands_of(4), colors_only(), {1});
}

TEST(TiffBands, AlphaIsDeclaredByTheFile) {
  TiffKind kind = bands_of(4, PHOTOMETRIC_RGB);
  for (const Values& extra : {Values{kStraight}, Values{}}) {
    kind.extra = extra;
    expect_bands(kind, sixteen_bits(), {1, 2, 3, 4});
    expect_bands(kind, selecting({4}), {4});
  }
  kind.extra = {kPremultiplied};
  EXPECT_EQ(failure(make_tiff(kind, random_samples(kind))), "");
  expect_bands(kind, selecting({1, 2, 3}), {1, 2, 3});
}

TEST(TiffBands, OrdinaryImages) {
  const TiffKind rgb = bands_of(3, PHOTOMETRIC_RGB);
  expect_bands(rgb, selecting({3, 2, 1}), {3, 2, 1});
  expect_bands(rgb, selecting({2}), {2});
  expect_bands(rgb, colors_only(), {1, 2, 3});
  // A single band as grey equals reading without --bands.
  for (const int photometric : {PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_MINISBLACK}) {
    const TiffKind grey = bands_of(1, photometric);
    const FileBytes file = make_tiff(grey, random_samples(grey));
    EXPECT_EQ(samples(decode(file, selecting({1}))), samples(decode(file)));
  }
  // The indices of a palette image.
  TiffKind palette = bands_of(1, PHOTOMETRIC_PALETTE);
  for (int i = 0; i < 768; ++i) palette.palette.push_back(i * 40503 % 65536);
  expect_bands(palette, selecting({1}), {1});
}

TEST(TiffBands, MissingBandsAreRejected) {
  const TiffKind kind = bands_of(4);
  const FileBytes file = make_tiff(kind, random_samples(kind));
  EXPECT_EQ(failure(file, selecting({5, 1, 2})), "TIFF: --bands: band 5 does not exist; the image has 4");
  for (const Format format : {Format::png, Format::jpeg, Format::ppm, Format::webp})
    EXPECT_EQ(failure(encoded(format), selecting({1})),
              "--bands: needs a TIFF, got a " + std::string(format_info(format).name) + " file");
}

TEST(TiffBands, AreDescribed) {
  TiffKind kind = bands_of(6, PHOTOMETRIC_RGB);
  kind.extra = {kStraight, kUnspecified, kPremultiplied};
  const FileDetails details = describe_tiff(make_tiff(kind, random_samples(kind)));
  EXPECT_EQ(details.channels, 6);
  EXPECT_EQ(details.extra_channels,
            (std::vector<std::string>{"unassociated alpha", "unspecified", "associated alpha"}));
  const TiffKind rgb = bands_of(3, PHOTOMETRIC_RGB);
  EXPECT_TRUE(describe_tiff(make_tiff(rgb, random_samples(rgb))).extra_channels.empty());
}

// Some writers store the offsets of tiles in the fields of strips.
TEST(TiffTiles, OffsetsInStripFields) {
  constexpr int kSide = 16;
  MadeTiff tiff(2 * kSide, kSide);
  tiff.pixels.clear();
  for (int i = 0; i < 2 * kSide * kSide; ++i) tiff.pixels.push_back(static_cast<std::byte>(i * 7 % 256));
  tiff.fields.erase(TIFFTAG_ROWSPERSTRIP);
  tiff.set(TIFFTAG_TILEWIDTH, {kSide});
  tiff.set(TIFFTAG_TILELENGTH, {kSide});
  tiff.set(TIFFTAG_STRIPOFFSETS, {8, 8 + kSide * kSide}, 4);
  tiff.set(TIFFTAG_STRIPBYTECOUNTS, {kSide * kSide, kSide * kSide}, 4);
  const FileBytes by_strips = tiff.build();
  for (const auto& [strips, tiles] : {std::pair{TIFFTAG_STRIPOFFSETS, TIFFTAG_TILEOFFSETS},
                                      {TIFFTAG_STRIPBYTECOUNTS, TIFFTAG_TILEBYTECOUNTS}}) {
    tiff.fields[tiles] = tiff.fields[strips];
    tiff.fields.erase(strips);
  }
  ASSERT_EQ(failure(by_strips), "");
  EXPECT_EQ(samples(decode(by_strips)), samples(decode(tiff.build())));
}

}  // namespace
}  // namespace imgpipe::test::tiff_bands_test

// TIFF: the reader returns the stored samples for every kind of file by libtiff, also in bands.
#include <algorithm>
#include <mutex>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <tiffio.h>

#include "images/codecs/codec.h"
#include "images/codecs/tiff/tiff_page.h"
#include "images/image.h"
#include "tests/support/file_parts.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_reader_test {
namespace {

constexpr int kDeflate = COMPRESSION_ADOBE_DEFLATE;

std::string text_of(const TiffKind& kind) {
  return std::to_string(kind.width) + "x" + std::to_string(kind.height) + " bits " +
         std::to_string(kind.bits) + " samples " + std::to_string(kind.samples) + " photometric " +
         std::to_string(kind.photometric) + " compression " + std::to_string(kind.compression) +
         " predictor " + std::to_string(kind.predictor) + " tile " + std::to_string(kind.tile_width) + "x" +
         std::to_string(kind.tile_height) + " strip " + std::to_string(kind.rows_per_strip) +
         (kind.separate ? " separate" : "") + (kind.big ? " big" : "") +
         (kind.big_endian ? " big-endian" : "") + (kind.reversed_bits ? " reversed" : "");
}

Values random_samples(const TiffKind& kind, unsigned seed) {
  std::mt19937 random(seed);
  Values values(static_cast<std::size_t>(kind.width * kind.height * kind.samples));
  int last = 0;
  for (int& value : values) {
    // Runs, slopes and noise, so that every compressor has something to do.
    const unsigned choice = random() % 8;
    if (choice == 0) last = static_cast<int>(random() % (1U << kind.bits));
    if (choice == 1) last = (last + 1) % (1 << kind.bits);
    value = last;
  }
  return values;
}

int scaled(int value, int bits, int most) {
  const std::int64_t m = (1 << bits) - 1;
  return static_cast<int>((std::int64_t{value} * most + m / 2) / m);
}

// Returns the reader's expected result for these samples, according to docs/formats.md.
Values expected_pixels(const TiffKind& kind, const Values& samples, int max_bits) {
  const int most = max_bits == 16 && kind.bits > 8 ? 65535 : 255;
  const int colors = kind.photometric == 2 ? 3 : kind.photometric == 5 ? 4 : 1;
  const bool alpha =
      kind.samples > colors && (kind.extra.empty() ? kind.samples == colors + 1 : kind.extra[0] != 0);
  Values out;
  for (std::size_t at = 0; at < samples.size(); at += static_cast<std::size_t>(kind.samples)) {
    const auto value = [&](int s) {
      return scaled(samples[at + static_cast<std::size_t>(s)], kind.bits, most);
    };
    Values pixel;
    if (kind.photometric == 0) pixel = {most - value(0)};
    if (kind.photometric == 1) pixel = {value(0)};
    if (kind.photometric == 2) pixel = {value(0), value(1), value(2)};
    if (kind.photometric == 3) {
      const std::size_t colors_in_map = kind.palette.size() / 3;
      for (std::size_t c = 0; c < 3; ++c)
        pixel.push_back(kind.palette[c * colors_in_map + static_cast<std::size_t>(samples[at])] >> 8);
    }
    if (kind.photometric == 5) {
      for (int c = 0; c < 3; ++c)
        pixel.push_back(
            static_cast<int>((std::int64_t{most - value(c)} * (most - value(3)) + most / 2) / most));
    }
    if (alpha) {
      const std::int64_t a = value(colors);
      if (!kind.extra.empty() && kind.extra[0] == 1) {
        for (int& color : pixel)
          color =
              a == 0
                  ? 0
                  : static_cast<int>(std::min<std::int64_t>((std::int64_t{color} * most + a / 2) / a, most));
      }
      pixel.push_back(static_cast<int>(a));
    }
    out.insert(out.end(), pixel.begin(), pixel.end());
  }
  return out;
}

Values values_of(const Image& image) {
  Values out;
  const ConstHostView view = image.untyped_view();
  for (std::int64_t y = 0; y < view.height; ++y) {
    for (std::int64_t i = 0; i < view.width * view.channels; ++i)
      out.push_back(view.sample == Sample::u16 ? view.as<std::uint16_t>().row(y)[i]
                                               : view.as<std::uint8_t>().row(y)[i]);
  }
  return out;
}

Values read_rows(const FileBytes& file, const DecodeOptions& options, std::int64_t rows) {
  const auto reader = open_reader(file, options);
  Image image(reader->header().shape);
  for (std::int64_t y = 0; y < image.shape().height; y += rows)
    reader->read_rows(image.untyped_view().rows(y, std::min(rows, image.shape().height - y)));
  return values_of(image);
}

// Reads bands of `rows` rows, each of which begins `overlap` rows above the end of the previous one.
Values read_bands(const FileBytes& file, const DecodeOptions& options, std::int64_t rows,
                  std::int64_t overlap, int threads) {
  const auto reader = open_reader(file, options);
  Image image(reader->header().shape);
  const std::int64_t height = image.shape().height;
  std::mutex mutex;
  std::int64_t next = 0;
  const auto work = [&] {
    for (;;) {
      std::int64_t first = 0, count = 0;
      {
        const std::lock_guard lock(mutex);
        if (next == height) return;
        first = std::max<std::int64_t>(next - overlap, 0);
        count = std::min(rows, height - next) + next - first;
        reader->begin_band(first, count);
        next = first + count;
      }
      Image band({image.shape().width, count, image.shape().channels, image.shape().sample});
      reader->read_band(first, band.untyped_view());
      const std::lock_guard lock(mutex);
      copy_pixels(std::as_const(band).untyped_view(), image.untyped_view().rows(first, count));
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  return values_of(image);
}

void expect_read(const TiffKind& kind, unsigned seed) {
  SCOPED_TRACE(text_of(kind));
  const Values samples = random_samples(kind, seed);
  const FileBytes file = make_tiff(kind, samples);
  for (const int max_bits : {8, 16}) {
    DecodeOptions options;
    options.max_bits = max_bits;
    options.colors_only = true;
    const Values expected = expected_pixels(kind, samples, max_bits);
    ASSERT_EQ(failure(file, options), "");
    ASSERT_EQ(read_rows(file, options, kind.height), expected);
    ASSERT_EQ(read_rows(file, options, 3), expected);
    ASSERT_EQ(read_bands(file, options, 1 + seed % 7, seed % 3, 1 + static_cast<int>(seed % 3)), expected);
  }
  const auto reader = open_reader(file, {.colors_only = true});
  EXPECT_EQ(reader->header().format, Format::tiff);
  EXPECT_EQ(reader->header().bits_per_sample, kind.photometric == 3 ? 8 : kind.bits);
  EXPECT_FALSE(reader->header().more_images);
}

// Strips of all heights and tiles around the image's size; both byte orders, classic and BigTIFF.
std::vector<TiffKind> layouts(TiffKind kind) {
  std::vector<TiffKind> all;
  for (const int rows : {0, 1, 5, 16}) {
    all.push_back(kind);
    all.back().rows_per_strip = rows;
  }
  for (const auto& [width, height] : {std::pair{16, 16}, {32, 16}, {16, 64}}) {
    all.push_back(kind);
    all.back().tile_width = width;
    all.back().tile_height = height;
  }
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(all[i]);
    all.back().big_endian = true;
    all.back().big = i % 2 == 0;
    all[i].big = i % 3 == 0;
  }
  return all;
}

void expect_read_in_every_layout(const TiffKind& kind) {
  unsigned seed = 0;
  for (const TiffKind& layout : layouts(kind)) {
    for (const bool separate : {false, true}) {
      if (separate && kind.samples == 1) continue;
      TiffKind one = layout;
      one.separate = separate;
      expect_read(one, ++seed);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

const std::vector<int>& compressions() {
  static const std::vector<int> all{COMPRESSION_NONE, COMPRESSION_PACKBITS, COMPRESSION_LZW,
                                    kDeflate,         COMPRESSION_DEFLATE,  COMPRESSION_ZSTD};
  return all;
}

TEST(TiffReader, GreyWithEveryNumberOfBits) {
  for (int bits = 1; bits <= 16; ++bits) {
    int photometric = bits % 2;
    for (const int compression : {COMPRESSION_NONE, kDeflate, COMPRESSION_LZW}) {
      expect_read_in_every_layout(
          {.width = 37, .height = 23, .bits = bits, .photometric = photometric, .compression = compression});
      photometric = 1 - photometric;
    }
  }
}

TEST(TiffReader, EveryCompressionAndPredictor) {
  for (const int compression : compressions()) {
    for (const int bits : {8, 16}) {
      for (const int samples : {1, 2, 3, 4, 5}) {
        for (const int predictor : {1, 2}) {
          const bool predicts = compression != COMPRESSION_NONE && compression != COMPRESSION_PACKBITS;
          if (predictor == 2 && !predicts) continue;
          // Tests half of the combinations, with every pair of bits, samples and predictor.
          if (predicts && (bits / 8 + samples + predictor) % 2 != 0) continue;
          TiffKind kind{.width = 35,
                        .height = 19,
                        .bits = bits,
                        .samples = samples,
                        .photometric = samples >= 3 ? 2 : 1,
                        .compression = compression,
                        .predictor = predictor};
          for (int i = samples >= 3 ? 3 : 1; i < samples; ++i) kind.extra.push_back(i == 3 ? 2 : 0);
          if (samples == 2) kind.extra = {2};
          expect_read_in_every_layout(kind);
        }
      }
    }
  }
}

TEST(TiffReader, Alpha) {
  for (const int bits : {4, 8, 12, 16}) {
    for (const int samples : {2, 4}) {
      for (const int extra : {0, 1, 2}) {
        expect_read_in_every_layout({.width = 21,
                                     .height = 18,
                                     .bits = bits,
                                     .samples = samples,
                                     .photometric = samples == 4 ? 2 : 1,
                                     .compression = kDeflate,
                                     .extra = {extra}});
      }
    }
  }
}

TEST(TiffReader, PalettesAndInks) {
  for (const int bits : {1, 2, 4, 8}) {
    TiffKind kind{.width = 33, .height = 17, .bits = bits, .photometric = 3, .compression = kDeflate};
    for (int i = 0; i < 3 << bits; ++i) kind.palette.push_back(i * 40503 % 65536);
    kind.palette[0] = 65535;
    expect_read_in_every_layout(kind);
    kind.samples = 2;
    kind.extra = {2};
    expect_read_in_every_layout(kind);
  }
  for (const int bits : {8, 16})
    expect_read_in_every_layout(
        {.width = 20, .height = 21, .bits = bits, .samples = 4, .photometric = 5, .compression = kDeflate});
}

TEST(TiffReader, ReversedBits) {
  for (const int compression : compressions()) {
    for (const int bits : {1, 8, 12, 16}) {
      expect_read_in_every_layout(
          {.width = 29, .height = 18, .bits = bits, .compression = compression, .reversed_bits = true});
    }
  }
}

TEST(TiffReader, Ccitt) {
  for (const int compression : {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4}) {
    for (const int options : {0, 1, 4, 5}) {
      if (options != 0 && compression != COMPRESSION_CCITTFAX3) continue;
      for (const bool reversed : {false, true}) {
        expect_read_in_every_layout({.width = 77,
                                     .height = 40,
                                     .bits = 1,
                                     .photometric = 0,
                                     .compression = compression,
                                     .reversed_bits = reversed,
                                     .t4_options = options});
      }
    }
  }
}

// Compares pixels with libtiff's for the same file.
TEST(TiffReader, JpegEqualsLibtiff) {
  unsigned seed = 0;
  for (const int photometric : {1, 2, 6}) {
    for (const int subsampling : {1, 2}) {
      if (subsampling != 1 && photometric != 6) continue;
      TiffKind kind{.width = 61,
                    .height = 50,
                    .samples = photometric == 1 ? 1 : 3,
                    .photometric = photometric,
                    .compression = COMPRESSION_JPEG,
                    .subsampling = subsampling};
      for (TiffKind layout : layouts(kind)) {
        if (layout.tile_width == 0 && layout.rows_per_strip % 16 != 0) layout.rows_per_strip = 16;
        SCOPED_TRACE(text_of(layout));
        const FileBytes file = make_tiff(layout, random_samples(layout, ++seed));
        const Values rgba = rgba_by_libtiff(file);
        Values expected;
        for (std::size_t i = 0; i < rgba.size(); ++i)
          if (static_cast<int>(i % 4) < layout.samples) expected.push_back(rgba[i]);
        ASSERT_EQ(failure(file), "");
        ASSERT_EQ(read_rows(file, {}, 7), expected);
        ASSERT_EQ(read_bands(file, {}, 9, 2, 3), expected);
      }
    }
  }
}

TEST(TiffReader, AwkwardSizes) {
  unsigned seed = 100;
  for (const auto& [width, height] : {std::pair{1, 1},
                                      {1, 7},
                                      {7, 1},
                                      {2, 2},
                                      {1, 257},
                                      {257, 1},
                                      {16, 16},
                                      {17, 16},
                                      {16, 17},
                                      {15, 31},
                                      {4099, 2}}) {
    for (const int compression : {COMPRESSION_NONE, kDeflate, COMPRESSION_LZW}) {
      for (const int bits : {1, 8, 11, 16}) {
        TiffKind kind{.width = width, .height = height, .bits = bits, .compression = compression};
        expect_read(kind, ++seed);
        kind.tile_width = kind.tile_height = 16;
        expect_read(kind, ++seed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(TiffReader, OrientationIsApplied) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const TiffKind kind{.width = 5,
                        .height = 3,
                        .bits = 16,
                        .compression = kDeflate,
                        .rows_per_strip = 2,
                        .orientation = orientation};
    const Values samples = random_samples(kind, 9);
    const FileBytes file = make_tiff(kind, samples);
    DecodeOptions options;
    options.max_bits = 16;
    Image stored({5, 3, 1, Sample::u16});
    for (std::size_t i = 0; i < samples.size(); ++i)
      stored.untyped_view().as<std::uint16_t>().data[i] = static_cast<std::uint16_t>(samples[i]);
    const auto turn = static_cast<Orientation>(orientation);
    Image upright(oriented_shape(stored.shape(), turn));
    orient_pixels(std::as_const(stored).untyped_view(), upright.untyped_view(), turn);
    EXPECT_EQ(open_reader(file, options)->header().shape, upright.shape());
    EXPECT_EQ(read_rows(file, options, 100), values_of(upright)) << orientation;
    options.orient = false;
    EXPECT_EQ(read_rows(file, options, 100), samples) << orientation;
  }
}

TEST(TiffReader, LenientKeepsAvailablePixels) {
  const TiffKind kind{.width = 8, .height = 6, .rows_per_strip = 2};
  const Values samples = random_samples(kind, 3);
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_PACKBITS, kDeflate, COMPRESSION_ZSTD, COMPRESSION_LZW}) {
    TiffKind packed = kind;
    packed.compression = compression;
    FileBytes file = make_tiff(packed, samples);
    const TiffPage page = read_tiff_page(file, *tiff_directory_offset(file, 0), {});
    // The second strip is outside the file.
    const std::size_t each = page.offsets.bytes().size() / page.offsets.size();
    const auto at = static_cast<std::size_t>(page.offsets.bytes().data() - file.data()) + each;
    std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at), each, std::byte{0xFF});
    EXPECT_NE(failure(file), "");
    Values expected = samples;
    std::fill(expected.begin() + 16, expected.begin() + 32, 128);
    DecodeOptions options;
    options.accept = Acceptance::lenient;
    EXPECT_EQ(read_rows(file, options, 6), expected) << compression;
    EXPECT_EQ(read_rows(file, options, 1), expected) << compression;
    EXPECT_EQ(read_bands(file, options, 3, 1, 2), expected) << compression;
    ASSERT_EQ(warnings(file).size(), 1U);
    EXPECT_EQ(warnings(file)[0].find("damaged TIFF: 1 strip: TIFF: a strip "), 0U) << warnings(file)[0];
  }
}

}  // namespace
}  // namespace imgpipe::test::tiff_reader_test

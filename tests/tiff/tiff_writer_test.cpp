// TIFF as written: libtiff and our own reader return the pixels, for strips, tiles and all compressions.
#include <algorithm>
#include <iterator>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/tiff/lzw.h"
#include "images/codecs/tiff/packbits.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_page.h"
#include "images/error.h"
#include "images/image.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_writer_test {
namespace {

const TiffPacking kPackings[] = {TiffPacking::none, TiffPacking::deflate, TiffPacking::packbits,
                                 TiffPacking::zstd, TiffPacking::lzw};

Image make_image(const Shape& shape, unsigned seed) {
  Image image(shape);
  std::mt19937 random(seed);
  const std::int64_t bytes = shape.bytes();
  std::byte* out = image.untyped_view().data;
  for (std::int64_t i = 0; i < bytes; ++i) {
    const bool fresh = random() % 3 == 0 || i < shape.channels * 2;
    out[i] = fresh ? static_cast<std::byte>(random()) : out[i - shape.channels];
  }
  return image;
}

Values values_of(const ConstHostView& view) {
  Values out;
  for (std::int64_t y = 0; y < view.height; ++y) {
    for (std::int64_t i = 0; i < view.width * view.channels; ++i)
      out.push_back(view.sample == Sample::u16 ? view.as<std::uint16_t>().row(y)[i]
                                               : view.as<std::uint8_t>().row(y)[i]);
  }
  return out;
}

FileBytes write(const Image& image, const EncodeOptions& options, std::int64_t rows) {
  const auto writer = make_writer(Format::tiff, image.shape(), options);
  const std::int64_t height = image.shape().height;
  for (std::int64_t y = 0; y < height; y += rows)
    writer->write_rows(image.untyped_view().rows(y, std::min(rows, height - y)));
  return writer->finish().joined();
}

FileBytes write_strips(const Image& image, const EncodeOptions& options, int threads) {
  const auto writer = make_writer(Format::tiff, image.shape(), options);
  const std::int64_t height = image.shape().height, strip = writer->strip_rows();
  const std::int64_t strips = (height + strip - 1) / strip;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::int64_t i = strips - 1 - t; i >= 0; i -= threads)
        writer->write_strip(i * strip,
                            image.untyped_view().rows(i * strip, std::min(strip, height - i * strip)));
    });
  }
  for (std::thread& worker : workers) worker.join();
  return writer->finish().joined();
}

// Takes finished data after every strip. Each pair of strips is written in reverse order, so that not every
// strip completes data.
FileBytes write_taken(const Image& image, const EncodeOptions& options) {
  const auto writer = make_writer(Format::tiff, image.shape(), options);
  const std::int64_t height = image.shape().height, strip = writer->strip_rows();
  const std::int64_t strips = (height + strip - 1) / strip;
  EncodedFile all;
  const auto add = [&](EncodedFile more) {
    std::ranges::move(more.parts, std::back_inserter(all.parts));
    std::ranges::move(more.patches, std::back_inserter(all.patches));
  };
  for (std::int64_t i = 0; i < strips; ++i) {
    const std::int64_t first = (i % 2 == 0 ? std::min(i + 1, strips - 1) : i - 1) * strip;
    writer->write_strip(first, image.untyped_view().rows(first, std::min(strip, height - first)));
    add(writer->take_finished());
  }
  EXPECT_TRUE(all.patches.empty());
  EXPECT_GE(all.parts.size(), 2U) << "nothing was taken";
  add(writer->finish());
  EXPECT_EQ(all.patches.size(), 1U);
  FileBytes file = all.joined();
  for (const EncodedFile::Patch& patch : all.patches)
    std::ranges::copy(patch.bytes, file.begin() + static_cast<std::ptrdiff_t>(patch.at));
  return file;
}

std::string text_of(const Shape& shape, const EncodeOptions& options) {
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.channels) + (shape.sample == Sample::u16 ? " u16" : " u8") + " packing " +
         std::to_string(static_cast<int>(options.tiff_packing)) + " level " +
         std::to_string(options.png_level) + " tile " + std::to_string(options.tiff_tile);
}

void expect_written(const Shape& shape, const EncodeOptions& options, unsigned seed) {
  SCOPED_TRACE(text_of(shape, options));
  const Image image = make_image(shape, seed);
  const Values expected = values_of(image.untyped_view());
  const FileBytes file = write(image, options, shape.height);
  ASSERT_TRUE(file == write(image, options, 3));
  ASSERT_TRUE(file == write_strips(image, options, 3));
  ASSERT_TRUE(file == write_taken(image, options));
  ASSERT_EQ(samples_by_libtiff(file), expected);
  DecodeOptions as_stored;
  as_stored.max_bits = 16;
  const auto reader = open_reader(file, as_stored);
  ASSERT_EQ(reader->header().shape, shape);
  Image back(shape);
  reader->read_rows(back.untyped_view());
  ASSERT_EQ(values_of(std::as_const(back).untyped_view()), expected);
}

TEST(TiffWriter, EveryShapePackingAndTileIsReadByLibtiff) {
  unsigned seed = 0;
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    for (int channels = 1; channels <= 4; ++channels) {
      for (const auto& [width, height] :
           {std::pair{1, 1}, {1, 17}, {17, 1}, {16, 16}, {33, 47}, {31, 64}, {301, 101}}) {
        for (const TiffPacking packing : kPackings) {
          for (const int tile : {0, 16, 64}) {
            expect_written({width, height, channels, sample}, {.tiff_packing = packing, .tiff_tile = tile},
                           ++seed);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(TiffWriter, EveryDeflateLevel) {
  for (int level = 0; level <= 9; ++level)
    expect_written({211, 1300, 1, Sample::u16}, {.png_level = level}, 7);
}

// LZW's output is never longer than its stated limit.
TEST(TiffWriter, LzwStaysWithinItsLimit) {
  std::mt19937 random(9);
  for (const std::size_t size : {1U, 2U, 255U, 3000U, 4000U, 70'000U, 1'000'000U}) {
    for (const unsigned values : {1U, 2U, 256U}) {
      FileBytes data(size);
      for (std::byte& byte : data) byte = static_cast<std::byte>(random() % values);
      const FileBytes packed = pack_lzw(data);
      EXPECT_LE(std::ssize(packed), max_lzw_bytes(std::ssize(data))) << size << " of " << values << " values";
      if (values == 1 && size > 1000) {
        EXPECT_LT(packed.size(), size / 10);
      }
    }
  }
}

TEST(TiffWriter, FieldsDescribeTheImage) {
  for (const int channels : {1, 2, 3, 4}) {
    const Image image = make_image({20, 10, channels, Sample::u16}, 3);
    const FileBytes file = write(image, {}, 10);
    const TiffPage page = read_tiff_page(file, *tiff_directory_offset(file, 0), {});
    EXPECT_EQ(page.bits, 16);
    EXPECT_EQ(page.samples, channels);
    EXPECT_EQ(page.alpha, channels % 2 == 0 ? TiffAlpha::straight : TiffAlpha::none);
    EXPECT_EQ(page.color, channels >= 3 ? TiffColor::rgb : TiffColor::black_is_zero);
    EXPECT_EQ(page.compression, TiffCompression::deflate);
    EXPECT_TRUE(page.predicted);
    EXPECT_FALSE(page.tiled);
    EXPECT_FALSE(page.more_pages);
  }
}

TEST(TiffWriter, StripErrorsAreReported) {
  const Image image = make_image({1000, 900, 3}, 1);
  const auto writer = make_writer(Format::tiff, image.shape());
  const std::int64_t strip = writer->strip_rows();
  ASSERT_LT(strip, 900);
  EXPECT_THROW(writer->write_strip(1, image.untyped_view().rows(1, strip)), Error);
  EXPECT_THROW(writer->write_strip(0, image.untyped_view().rows(0, strip - 1)), Error);
  EXPECT_THROW(writer->write_strip(-strip, image.untyped_view().rows(0, strip)), Error);
  EXPECT_THROW(writer->write_strip(0, make_image({999, strip, 3}, 1).untyped_view()), Error);
  writer->write_strip(0, image.untyped_view().rows(0, strip));
  EXPECT_THROW((void)writer->finish(), Error);
  for (const int tile : {1, 8, 17, 4112, -16})
    EXPECT_THROW((void)make_writer(Format::tiff, {10, 10, 1}, {.tiff_tile = tile}), Error) << tile;
}

// BigTIFF is chosen before the first row if the file might become too large; here, the limit is low.
TEST(TiffWriter, LargeFilesAreBigTiff) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    for (const int tile : {0, 16}) {
      const Shape shape{150, 90, 4, sample};
      const Image image = make_image(shape, 4);
      const EncodeOptions options{.tiff_packing = TiffPacking::none, .tiff_tile = tile, .mark = Mark::result};
      const FileBytes classic = write(image, options, 90);
      for (const bool large : {false, true}) {
        const auto writer = make_tiff_writer_up_to(
            static_cast<std::int64_t>(classic.size()) * (large ? 1 : 2) - (large ? 500 : 0), shape, options);
        writer->write_rows(image.untyped_view());
        const FileBytes file = writer->finish().joined();
        EXPECT_EQ(std::to_integer<int>(file[2]), large ? 43 : 42);
        EXPECT_EQ(file == classic, !large);
        EXPECT_EQ(find_tiff_mark(file), Mark::result);
        ASSERT_EQ(samples_by_libtiff(file), values_of(image.untyped_view()));
        DecodeOptions as_stored;
        as_stored.max_bits = 16;
        Image back(shape);
        open_reader(file, as_stored)->read_rows(back.untyped_view());
        ASSERT_EQ(values_of(std::as_const(back).untyped_view()), values_of(image.untyped_view()));
      }
    }
  }
}

TEST(PackBits, RoundTrips) {
  std::mt19937 random(5);
  for (std::size_t size = 1; size < 600; ++size) {
    for (const unsigned runs : {1U, 2U, 3U, 50U}) {
      FileBytes row(size);
      for (std::size_t i = 0; i < size; ++i)
        row[i] = i > 0 && random() % runs != 0 ? row[i - 1] : static_cast<std::byte>(random());
      FileBytes packed;
      pack_packbits(row, packed);
      EXPECT_LE(packed.size(), max_packbits_bytes(size));
      FileBytes back(size);
      EXPECT_EQ(unpack_packbits(packed, back), size);
      EXPECT_EQ(back, row) << size;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::tiff_writer_test

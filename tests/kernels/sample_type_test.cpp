// Tests that memory, copies and rotations in images/ use the size of the sample type, and that functions for
// 8-bit samples reject 16-bit ones.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/exif.h"
#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"

namespace imgpipe::sample_type_test {
namespace {

constexpr Shape kWide{5, 3, 3, Sample::u16};

class CountingMemory final : public std::pmr::memory_resource {
 public:
  std::size_t taken = 0, given_back = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    taken += bytes;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    given_back += bytes;
    std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

// Gives every sample a different value, with two different bytes.
Image numbered(Shape shape) {
  Image image(shape);
  const auto plane = image.untyped_view().as<std::uint16_t>();
  for (std::int64_t i = 0; i < shape.samples(); ++i) plane.data[i] = static_cast<std::uint16_t>(i * 259 + 7);
  return image;
}

TEST(Sample, ImageSizeFollowsItsSampleType) {
  CountingMemory memory;
  {
    const Image image(kWide, &memory);
    EXPECT_EQ(image.size_bytes(), 5U * 3U * 3U * 2U);
    EXPECT_EQ(memory.taken, image.size_bytes());
    EXPECT_EQ(image.untyped_view().stride_bytes, 30);
    EXPECT_EQ(image.untyped_view().shape(), kWide);
  }
  EXPECT_EQ(memory.given_back, memory.taken);
}

TEST(Sample, ImageOf16BitsHasNo8BitView) {
  Image wide(kWide);
  EXPECT_THROW((void)wide.view(), Error);
  EXPECT_THROW((void)std::as_const(wide).view(), Error);
  EXPECT_NO_THROW((void)Image().view());
}

TEST(Sample, CopiesAllBytesExceptPadding) {
  const Image from = numbered(kWide);
  constexpr std::int64_t kStride = 40;
  std::vector<std::byte> memory(kStride * 3, std::byte{0xEE});
  const HostView to(memory.data(), kWide, kStride);
  copy_pixels(from.untyped_view(), to);
  for (std::int64_t y = 0; y < kWide.height; ++y) {
    const std::byte* row = from.untyped_view().row(y);
    EXPECT_TRUE(std::equal(row, row + kWide.row_bytes(), to.row(y))) << "row " << y;
    EXPECT_TRUE(std::all_of(to.row(y) + kWide.row_bytes(), to.row(y) + kStride,
                            [](std::byte value) { return value == std::byte{0xEE}; }))
        << "row " << y;
  }
}

TEST(Sample, RotatesWhole16BitPixels) {
  for (const Shape shape : {kWide, Shape{1, 7, 1, Sample::u16}, Shape{4, 1, 4, Sample::u16}}) {
    const Image stored = numbered(shape);
    Image turned(oriented_shape(shape, Orientation::rotate_90));
    ASSERT_EQ(turned.shape().sample, Sample::u16);
    orient_pixels(stored.untyped_view(), turned.untyped_view(), Orientation::rotate_90);
    const auto in = stored.untyped_view().as<std::uint16_t>();
    const auto out = turned.untyped_view().as<std::uint16_t>();
    for (std::int64_t y = 0; y < in.height; ++y)
      for (std::int64_t x = 0; x < in.width; ++x)
        for (int c = 0; c < in.channels; ++c)
          ASSERT_EQ(out.row(x)[(in.height - 1 - y) * in.channels + c], in.row(y)[x * in.channels + c])
              << x << "," << y;
    Image back(shape);
    orient_pixels(turned.untyped_view(), back.untyped_view(), Orientation::rotate_270);
    EXPECT_TRUE(std::equal(stored.untyped_view().data, stored.untyped_view().data + shape.bytes(),
                           back.untyped_view().data));
  }
}

// Reads 16-bit rows from memory, with an orientation, to test the readers that wrap it.
class WideReader final : public Reader {
 public:
  WideReader(const Image& image, Orientation orientation) : image_(image) {
    header_.shape = image.shape();
    header_.orientation = orientation;
  }

 protected:
  void read_next_rows(HostView rows) override {
    copy_pixels(image_.untyped_view().rows(next_row_, rows.height), rows);
    next_row_ += rows.height;
  }

 private:
  const Image& image_;
  std::int64_t next_row_ = 0;
};

TEST(Sample, OrientedReadersSupportEverySampleType) {
  const Image stored = numbered({37, 150, 3, Sample::u16});
  for (int o = 2; o <= 8; ++o) {
    const auto orientation = static_cast<Orientation>(o);
    Image expected(oriented_shape(stored.shape(), orientation));
    orient_pixels(stored.untyped_view(), expected.untyped_view(), orientation);
    for (const std::int64_t band : {expected.shape().height, std::int64_t{7}}) {
      const auto reader = make_oriented_reader(std::make_unique<WideReader>(stored, orientation),
                                               std::pmr::new_delete_resource());
      ASSERT_EQ(reader->header().shape, expected.shape());
      // A strip, plus the whole image if it is read in bands.
      if (orientation != Orientation::mirror_horizontal) {
        const std::int64_t strip = 64 * stored.shape().row_bytes();
        EXPECT_EQ(reader->working_bytes(true), strip);
        EXPECT_EQ(reader->working_bytes(false), strip + stored.shape().bytes());
      }
      Image got(expected.shape());
      for (std::int64_t y = 0; y < got.shape().height; y += band)
        reader->read_rows(got.untyped_view().rows(y, std::min(band, got.shape().height - y)));
      EXPECT_TRUE(std::equal(got.untyped_view().data, got.untyped_view().data + got.size_bytes(),
                             expected.untyped_view().data))
          << "orientation " << o << ", bands of " << band;
    }
  }
}

TEST(Sample, ReaderOf8BitsRejectsRowsOf16) {
  const Image grey = synthesize(parse_pattern("ramp"), {9, 4, 1}, 1);
  const auto writer = make_writer(Format::png, grey.shape());
  writer->write_rows(grey.view());
  const std::vector<std::byte> file = writer->finish().joined();
  const auto reader = open_reader(file);
  EXPECT_EQ(reader->header().shape.sample, Sample::u8);
  Image wide({9, 4, 1, Sample::u16});
  EXPECT_THROW(reader->read_rows(wide.untyped_view()), Error);
}

TEST(Sample, WritersOf8BitsRejectRowsOf16) {
  for (const FormatInfo& info : format_table()) {
    if (!info.writable || info.written_bits == 0) continue;
    if (info.written_bits == 8) {
      EXPECT_THROW((void)make_writer(info.format, {5, 3, 1, Sample::u16}), Error) << info.name;
    }
    const Image wide = numbered({5, 3, 1, Sample::u16});
    const auto writer = make_writer(info.format, {5, 3, 1});
    EXPECT_THROW(writer->write_rows(wide.untyped_view()), Error) << info.name;
  }
}

TEST(Sample, FloatsAreSupportedInMemoryAndThreeFormats) {
  const Shape floats{5, 3, 1, Sample::f32};
  EXPECT_EQ(Image(floats).size_bytes(), 60U);
  EXPECT_THROW((void)Image(floats).view(), Error);
  EXPECT_THROW((void)synthesize(parse_pattern("noise"), floats, 1), Error);
  EXPECT_THROW((void)parse_pattern("constant:1", Sample::f32), Error);
  for (const FormatInfo& info : format_table()) {
    if (!info.writable) continue;
    const bool holds =
        info.format == Format::tiff || info.format == Format::pfm || info.format == Format::npy;
    EXPECT_EQ(info.holds_floats, holds) << info.name;
    if (holds) continue;
    EXPECT_THROW((void)make_writer(info.format, floats), Error) << info.name;
  }
}

TEST(Sample, MissingPixelsAreMidGreyAndOpaque) {
  std::array<Sample8, 6> narrow{};
  fill_missing(narrow.data(), 3, 2);
  EXPECT_EQ(narrow, (std::array<Sample8, 6>{128, 255, 128, 255, 128, 255}));
  std::array<std::uint16_t, 6> wide{};
  fill_missing(wide.data(), 2, 3);
  EXPECT_EQ(wide, (std::array<std::uint16_t, 6>{32768, 32768, 32768, 32768, 32768, 32768}));
  fill_missing(wide.data(), 3, 2);
  EXPECT_EQ(wide[1], 65535);
}

}  // namespace
}  // namespace imgpipe::sample_type_test

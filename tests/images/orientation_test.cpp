// The orientation in Exif: reading it, damage, applying it to pixels.
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/images.h"

namespace imgpipe::test::orientation_test {
namespace {

// Returns a TIFF structure with the orientation, in either byte order.
Bytes tiff(int orientation, bool big_endian) {
  Bytes out = bytes_of(
      big_endian ? std::string_view("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", 26)
                 : std::string_view("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0", 26));
  out[big_endian ? 19 : 18] = static_cast<std::byte>(orientation);
  return out;
}

TEST(Exif, ReadsTheOrientation) {
  for (int value = 0; value <= 10; ++value) {
    for (const bool big : {false, true}) {
      const bool valid = value >= 1 && value <= 8;
      EXPECT_EQ(static_cast<int>(exif_orientation(tiff(value, big))), valid ? value : 1) << value << big;
    }
  }
}

TEST(Exif, DamageMeansUpright) {
  const Bytes good = tiff(6, true);
  for (std::size_t length = 0; length < 20; ++length) {
    EXPECT_EQ(exif_orientation(std::span(good).first(length)), Orientation::upright) << length;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = good;
      bytes[i] = static_cast<std::byte>(value);
      const int got = static_cast<int>(exif_orientation(bytes));
      EXPECT_TRUE(got >= 1 && got <= 8);
    }
  }
}

// Corners according to the figure in the Exif standard: the first letter appears at the top left.
TEST(Exif, AppliesEveryOrientation) {
  const std::vector<Sample8> stored{'a', 'b', 'c', 'd', 'e', 'f'};  // ab / cd / ef
  const ConstHostPlane plane{stored.data(), 2, 3, 2, 1};
  const std::vector<std::string> expected{"abcdef", "badcfe", "fedcba", "efcdab",
                                          "acebdf", "ecafdb", "fdbeca", "bdface"};
  for (int value = 1; value <= 8; ++value) {
    const auto orientation = static_cast<Orientation>(value);
    const Shape shape = oriented_shape(plane.shape(), orientation);
    EXPECT_EQ(shape.width, value >= 5 ? 3 : 2);
    Image upright(shape);
    orient_pixels(plane, upright.view(), orientation);
    const Sample8* data = std::as_const(upright).view().data;
    EXPECT_EQ(std::string(data, data + 6), expected[static_cast<std::size_t>(value - 1)]) << value;
  }
}

// The checksum of a PNG chunk.
std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b);
    for (int k = 0; k < 8; ++k) crc = (crc & 1) != 0 ? 0xEDB88320U ^ (crc >> 1) : crc >> 1;
  }
  return ~crc;
}

TEST(Exif, OrientationInPngAndJpegIsApplied) {
  const Bytes exif = tiff(6, false);
  Bytes png = encoded(Format::png);
  Bytes chunk = bytes_of("eXIf");
  chunk.insert(chunk.end(), exif.begin(), exif.end());
  const std::uint32_t crc = crc32(chunk);
  chunk.insert(chunk.begin(),
               {std::byte{0}, std::byte{0}, std::byte{0}, static_cast<std::byte>(exif.size())});
  for (int shift = 24; shift >= 0; shift -= 8) chunk.push_back(static_cast<std::byte>(crc >> shift));
  png.insert(png.begin() + 33, chunk.begin(), chunk.end());

  Bytes jpeg = encoded(Format::jpeg);
  Bytes segment =
      bytes_of(std::string_view("\xFF\xE1\x00\x00"
                                "Exif\0\0",
                                10));
  segment.insert(segment.end(), exif.begin(), exif.end());
  segment[3] = static_cast<std::byte>(segment.size() - 2);
  jpeg.insert(jpeg.begin() + 2, segment.begin(), segment.end());

  for (const Bytes& bytes : {png, jpeg}) {
    DecodeOptions as_stored;
    as_stored.orient = false;
    const Image stored = decode(bytes, as_stored);
    const Image upright = decode(bytes);
    EXPECT_EQ(stored.shape(), (Shape{16, 12, 3}));
    ASSERT_EQ(upright.shape(), (Shape{12, 16, 3}));
    Image turned(upright.shape());
    orient_pixels(stored.view(), turned.view(), Orientation::rotate_90);
    EXPECT_EQ(first_difference(std::as_const(turned).view(), upright.view()), "");
  }
}

}  // namespace
}  // namespace imgpipe::test::orientation_test

#include "images/pixel_digest.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "images/sha256.h"

namespace imgpipe {
namespace {

// The examples of FIPS 180-4.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, SegmentsDoNotMatter) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::byte> bytes(random() % 400);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    Sha256 whole, segments;
    whole.add(bytes);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t count = std::min<std::size_t>(random() % 150, bytes.size() - at);
      segments.add(std::span(bytes).subspan(at, count));
      (void)segments.hex();  // changes nothing
      at += count;
    }
    EXPECT_EQ(segments.hex(), whole.hex()) << bytes.size() << " bytes, trial " << trial;
  }
}

TEST(PixelDigest, IsThatOfTheSamplesWithoutPadding) {
  const std::vector<std::uint16_t> samples{0x0102, 0x0304, 0xdead, 0x0506, 0x0708, 0xdead};
  const Plane<const std::uint16_t, Host> plane{samples.data(), 2, 2, 3, 1};
  EXPECT_EQ(pixel_sha256(plane), sha256({"\x02\x01\x04\x03\x06\x05\x08\x07", 8}));
  EXPECT_EQ(pixel_sha256(Plane<const std::uint16_t, Host>{samples.data(), 1, 2, 3, 2}),
            pixel_sha256(plane));  // the shape is not part of it
}

TEST(PixelDigest, RowsMayComeInBands) {
  Image image({7, 11, 3, Sample::f32});
  std::mt19937 random(2);
  auto* const bytes = image.untyped_view().data;
  std::generate_n(bytes, image.size_bytes(), [&] { return static_cast<std::byte>(random()); });
  PixelDigest bands;
  for (const auto& [first, count] : {std::pair{0, 1}, {1, 5}, {6, 0}, {6, 5}})
    bands.add(std::as_const(image).untyped_view().rows(first, count));
  EXPECT_EQ(bands.hex(), pixel_sha256(std::as_const(image).untyped_view()));
}

}  // namespace
}  // namespace imgpipe

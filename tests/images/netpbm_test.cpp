// Netpbm: every kind of file, every maximum, and invalid files.
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"

namespace imgpipe::test::netpbm_test {
namespace {

TEST(Netpbm, EveryKindAndMaximum) {
  EXPECT_EQ(samples(decode(bytes_of("P1\n# c\n3 2\n0 1 0\n101\n"))), (std::vector{255, 0, 255, 0, 255, 0}));
  EXPECT_EQ(samples(decode(bytes_of(std::string_view("P4 10 1\n\xA5\x40", 10)))),
            (std::vector{0, 255, 0, 255, 255, 0, 255, 0, 255, 0}));
  EXPECT_EQ(samples(decode(bytes_of("P2 3 1 15 0 7 15"))), (std::vector{0, 119, 255}));
  EXPECT_EQ(samples(decode(bytes_of("P3\n1 1\n255\n1 2 3\n"))), (std::vector{1, 2, 3}));
  EXPECT_EQ(samples(decode(bytes_of("P5 2 1 15\n\x07\x0F"))), (std::vector{119, 255}));
  EXPECT_EQ(samples(decode(bytes_of(std::string_view("P5 2 1 65535\n\x80\x00\xFF\xFF", 17)))),
            (std::vector{128, 255}));
  EXPECT_EQ(samples(decode(bytes_of(std::string_view("P6\n1 1 255\n\n \t", 14)))), (std::vector{10, 32, 9}));
  EXPECT_EQ(samples(decode(bytes_of("P5#x\n#y\n 1#z\n1 255#w\nA"))), (std::vector{65}));
}

// Checks the reduction from more than 8 bits against libpng's png_set_scale_16, value by value.
TEST(Netpbm, SixteenBitsAreReducedLikePng) {
  Bytes file = bytes_of("P5 65536 1 65535\n");
  for (int v = 0; v < 65536; ++v) {
    file.push_back(static_cast<std::byte>(v >> 8));
    file.push_back(static_cast<std::byte>(v & 255));
  }
  const Image image = decode(file);
  for (int v = 0; v < 65536; ++v) ASSERT_EQ(int{image.view().data[v]}, (v * 255 + 32895) >> 16) << v;
}

TEST(Netpbm, RejectsInvalidFiles) {
  for (const char* text : {"P5", "P5 ", "P5 1", "P5 1 1", "P5 1 1 255", "P5 0 1 255 A", "P5 1 1 0 A",
                           "P5 1 1 65536 AA", "P5 -1 1 255 A", "P5 99999999999 1 255 A", "P5 2 1 255\nA",
                           "P2 2 1 255 1", "P2 1 1 255 x", "P2 1 1 9 10", "P5 1 1 9\nA", "P1 2 1 12",
                           "P6 1 1 255\nAB", "P5 1 1 255x", "P2 1 1 255 99999999999"}) {
    EXPECT_NE(failure(bytes_of(text)), "") << text;
  }
  // Lenient: missing samples are mid-grey.
  EXPECT_EQ(samples(decode(bytes_of("P5 3 2 255\nABCD"), lenient())),
            (std::vector{65, 66, 67, 68, 128, 128}));
  EXPECT_EQ(samples(decode(bytes_of("P2 3 1 255 1 2"), lenient())), (std::vector{1, 2, 128}));
  const auto reader = open_reader(bytes_of("P5 1 1 255\n"), lenient());
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  EXPECT_EQ(reader->warnings().size(), 1U);
}

}  // namespace
}  // namespace imgpipe::test::netpbm_test

// Netpbm and PSD files with more than 8 bits per sample, read with 16, against their definitions.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/formats/pending_input.h"
#include "images/image.h"
#include "tests/support/decoding.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/psd_file.h"

namespace imgpipe::test::sixteen_bit_formats_test {
namespace {

// ---- Netpbm -----------------------------------------------------------------------------------------

// Every value for every kind of maximum, raw and plain.
TEST(SixteenBits, NetpbmWithAnyMaximum) {
  for (const int most : {256, 257, 511, 1000, 1023, 4095, 10007, 32767, 32768, 65534, 65535}) {
    Bytes raw = bytes_of("P5 " + std::to_string(most + 1) + " 1 " + std::to_string(most) + "\n");
    std::string text = "P2 " + std::to_string(most + 1) + " 1 " + std::to_string(most) + "\n";
    for (int value = 0; value <= most; ++value) {
      put(raw, value, 2);
      text += std::to_string(value) + "\n";
    }
    for (const Bytes& file : {raw, bytes_of(text)}) {
      const Image image = decode(file, sixteen_bits());
      ASSERT_EQ(image.shape(), (Shape{most + 1, 1, 1, Sample::u16}));
      const Values values = samples(image);
      const Values eight = samples(decode(file));
      for (int value = 0; value <= most; ++value) {
        const auto at = static_cast<std::size_t>(value);
        ASSERT_EQ(values[at], (std::int64_t{value} * 65535 + most / 2) / most) << value << " of " << most;
        ASSERT_EQ(eight[at], (std::int64_t{value} * 255 + most / 2) / most) << value << " of " << most;
      }
    }
  }
  // 8 bits and fewer stay 8.
  for (const char* file : {"P2 1 1 255 7", "P2 1 1 15 7", "P1 1 1 1"})
    EXPECT_EQ(decode(bytes_of(file), sixteen_bits()).shape().sample, Sample::u8) << file;
  EXPECT_NE(failure(bytes_of("P2 1 1 4095 4096"), sixteen_bits()), "");
  EXPECT_NE(failure(bytes_of("P5 2 1 4095\nabc"), sixteen_bits()), "");
}

// A file that is read directly from disk.
TEST(SixteenBits, StreamedNetpbm) {
  TemporaryDirectory directory;
  for (const int most : {4095, 65535}) {
    const Image image = noise_image({997, 611, 3, Sample::u16}, 8);
    Bytes file = bytes_of("P6 997 611 " + std::to_string(most) + "\n");
    Values expected;
    for (const int sample : samples(image)) {
      const int value = sample % (most + 1);
      put(file, value, 2);
      expected.push_back(static_cast<int>((std::int64_t{value} * 65535 + most / 2) / most));
    }
    save(directory.file("deep.ppm"), file);
    EXPECT_TRUE(samples(decode(file, sixteen_bits())) == expected);
    for (const std::int64_t rows : {611, 7, 1}) {
      PendingInput pending(directory.file("deep.ppm"), sixteen_bits(), InputKind::any);
      const InputFile input = pending.read();
      ASSERT_LT(input.bytes().size(), file.size()) << "it was not streamed";
      const auto reader = open_reader(input, sixteen_bits());
      Image got(reader->header().shape);
      for (std::int64_t y = 0; y < 611; y += rows)
        reader->read_rows(got.untyped_view().rows(y, std::min(rows, 611 - y)));
      ASSERT_TRUE(samples(got) == expected) << most << ", " << rows << " rows";
    }
  }
}

// ---- PSD --------------------------------------------------------------------------------------------

// 65535 means no ink.
TEST(SixteenBits, PsdInks) {
  Psd cmyk{3, 1, kCmyk, 16};
  cmyk.channels = {{65535, 10, 40000}, {32768, 20, 50000}, {0, 30, 60000}, {65535, 100, 45000}};
  const auto ink = [](std::int64_t c, std::int64_t k) { return static_cast<int>((c * k + 32767) / 65535); };
  EXPECT_EQ(samples(decode(make_psd(cmyk), sixteen_bits())),
            (Values{65535, 32768, 0, ink(10, 100), ink(20, 100), ink(30, 100), ink(40000, 45000),
                    ink(50000, 45000), ink(60000, 45000)}));
}

// Every colour over white, at alphas over the whole range.
TEST(SixteenBits, WhiteIsRemovedFromTransparentPsdColours) {
  Psd psd{256, 256, kGrey, 16};
  psd.layers = layer_count(-1);
  psd.channels.assign(2, Values(65536));
  Values expected;
  for (int i = 0; i < 65536; ++i) {
    const int alpha = i / 256 * 257;
    const int value = std::max(65535 - alpha, i % 256 * 257);
    psd.channels[0][static_cast<std::size_t>(i)] = value;
    psd.channels[1][static_cast<std::size_t>(i)] = alpha;
    const std::int64_t over = std::int64_t{value} - (65535 - alpha);
    expected.push_back(alpha == 0 ? value : static_cast<int>((2 * over * 65535 + alpha) / (2 * alpha)));
    expected.push_back(alpha);
  }
  EXPECT_TRUE(samples(decode(make_psd(psd), sixteen_bits())) == expected);
}

}  // namespace
}  // namespace imgpipe::test::sixteen_bit_formats_test

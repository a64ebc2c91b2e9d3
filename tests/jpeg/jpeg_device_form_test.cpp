// JPEGs whose scans come from a device: checks the writer's requirements, and compares the arithmetic with
// libjpeg-turbo's.
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/jpeg/forward_scan.h"
#include "images/codecs/jpeg/scan_reference.h"
#include "images/error.h"
#include "images/image.h"
#include "kernels/jpeg/encoding.h"
#include "tests/support/images.h"

namespace imgpipe::test::jpeg_device_form_test {
namespace {

using File = std::vector<std::byte>;

constexpr std::int64_t kMaxJpegSide = 65500;

Image make_image(Shape shape, const std::string& content) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      for (int c = 0; c < shape.channels; ++c)
        image.view().row(y)[x * shape.channels + c] = content_sample(content, x, y, c, 7);
    }
  }
  return image;
}

EncodeOptions with_quality(int quality, Mark mark = Mark::none) {
  EncodeOptions options;
  options.quality = quality;
  options.mark = mark;
  return options;
}

File by_rows(const Image& image, const EncodeOptions& options) {
  const std::unique_ptr<Writer> writer = make_writer(Format::jpeg, image.shape(), options);
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

File by_scan(const Image& image, const EncodeOptions& options) {
  const std::unique_ptr<Writer> writer = make_writer(Format::jpeg, image.shape(), options);
  const DeviceForm form = writer->device_form();
  EXPECT_EQ(form.kind, DeviceForm::Kind::jpeg_scan);
  EXPECT_EQ(form.quality, options.quality);
  writer->give_scan(encode_scan_reference(image.view(), form.quality, form.subsampled_chroma));
  return writer->finish().joined();
}

void expect_equal(Shape shape, const std::string& content, int quality) {
  SCOPED_TRACE(content + " " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
               std::to_string(shape.channels) + " quality " + std::to_string(quality));
  const Image image = make_image(shape, content);
  const EncodeOptions options = with_quality(quality);
  EXPECT_TRUE(by_rows(image, options) == by_scan(image, options));
}

TEST(JpegDeviceForm, EqualForEveryQuality) {
  for (int quality = 1; quality <= 100; ++quality) {
    for (const int channels : {1, 3}) {
      for (const char* content : {"noise", "two_valued", "checker", "ramp", "constant"})
        expect_equal({83, 45, channels}, content, quality);
    }
  }
}

TEST(JpegDeviceForm, EqualForEveryShape) {
  for (const int channels : {1, 3}) {
    for (const int quality : {60, 90, 91, 100}) {
      for (std::int64_t height = 1; height <= 34; ++height) {
        for (std::int64_t width = 1; width <= 34; ++width)
          expect_equal({width, height, channels}, "noise", quality);
      }
      for (const Size& size : awkward_sizes()) {
        if (size.width <= kMaxJpegSide && size.height <= kMaxJpegSide)
          expect_equal({size.width, size.height, channels}, "two_valued", quality);
      }
    }
  }
}

TEST(JpegDeviceForm, EqualForLongSides) {
  for (const int quality : {90, 95}) {
    expect_equal({kMaxJpegSide, 1, 3}, "noise", quality);
    expect_equal({1, kMaxJpegSide, 3}, "noise", quality);
    expect_equal({kMaxJpegSide, 3, 1}, "ramp", quality);
    expect_equal({2, kMaxJpegSide, 1}, "noise", quality);
  }
}

TEST(JpegDeviceForm, EqualForEveryContent) {
  for (const int channels : {1, 3}) {
    for (const std::string& content : contents()) {
      for (const int quality : {1, 25, 50, 75, 90, 95, 100})
        expect_equal({130, 67, channels}, content, quality);
    }
  }
}

TEST(JpegDeviceForm, KeepsTheMark) {
  for (const int channels : {1, 3}) {
    const Image image = make_image({40, 30, channels}, "noise");
    const EncodeOptions options = with_quality(90, Mark::result);
    EXPECT_TRUE(by_rows(image, options) == by_scan(image, options));
  }
}

TEST(JpegDeviceForm, SubsamplesChromaLikeTheWriter) {
  const auto form = [](int channels, int quality) {
    return make_writer(Format::jpeg, {20, 10, channels}, with_quality(quality))->device_form();
  };
  EXPECT_TRUE(form(3, 90).subsampled_chroma);
  EXPECT_FALSE(form(3, 91).subsampled_chroma);
  EXPECT_FALSE(form(1, 90).subsampled_chroma);
  EXPECT_EQ(form(1, 3).quality, 3);
}

// Pixels that are converted on their way to the writer are not on the device.
TEST(JpegDeviceForm, NoneForConvertedPixels) {
  for (const int channels : {2, 4}) {
    const auto writer = make_writer(Format::jpeg, {20, 10, channels}, with_quality(90));
    EXPECT_EQ(writer->device_form().kind, DeviceForm::Kind::none);
    EXPECT_THROW(writer->give_scan({}), Error);
  }
}

TEST(JpegDeviceForm, NoneForOtherCodecsAndFormats) {
  EncodeOptions stb;
  stb.codec = CodecChoice::stb;
  EXPECT_EQ(make_writer(Format::jpeg, {20, 10, 3}, stb)->device_form().kind, DeviceForm::Kind::none);
  EXPECT_EQ(make_writer(Format::bmp, {20, 10, 3})->device_form().kind, DeviceForm::Kind::none);
}

TEST(JpegDeviceForm, RowsAndAScanAreExclusive) {
  const Image image = make_image({20, 10, 1}, "noise");
  const auto scan = encode_scan_reference(image.view(), 90, false);
  const auto given = make_writer(Format::jpeg, image.shape(), with_quality(90));
  given->give_scan(scan);
  EXPECT_THROW(given->write_rows(image.untyped_view()), Error);
  EXPECT_THROW(given->give_scan(scan), Error);
  EXPECT_TRUE(given->take_finished().parts.empty());
  EXPECT_TRUE(given->finish().joined() == by_rows(image, with_quality(90)));
  const auto written = make_writer(Format::jpeg, image.shape(), with_quality(90));
  written->write_rows(image.untyped_view());
  EXPECT_THROW(written->give_scan(scan), Error);
  EXPECT_TRUE(written->finish().joined() == by_rows(image, with_quality(90)));
}

// The multiplication that replaces the division, for all possible inputs.
TEST(JpegDeviceForm, QuantizesLikeADivision) {
  for (int step = 1; step <= 255; ++step) {
    const QuantizerStep by = quantizer_step(step);
    for (std::int32_t x = 0; x <= 16384; ++x) {
      const auto expected = static_cast<std::uint32_t>((x + 4 * step) / (8 * step));
      ASSERT_EQ(quantized_magnitude(x, by), expected) << x << " by " << step;
      ASSERT_EQ(quantized_magnitude(-x, by), expected) << -x << " by " << step;
    }
  }
}

// ---- assumptions of kernels/jpeg/encoding.cu ----------------------------------------------------------

// Adds a zero byte after each 0xFF, and ones after the last bit.
std::vector<std::uint8_t> stuffed(std::vector<bool> bits) {
  while (bits.size() % 8 != 0) bits.push_back(true);
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < 8; ++k) byte = byte * 2 + (bits[i + k] ? 1 : 0);
    bytes.push_back(static_cast<std::uint8_t>(byte));
    if (byte == 0xFF) bytes.push_back(0);
  }
  return bytes;
}

// Returns the bits packed into 32-bit words, as in a slot, and padded with ones.
std::vector<std::uint32_t> slot_of(const std::vector<bool>& bits) {
  std::vector<std::uint32_t> words((bits.size() + 31) / 32 + 1, 0xFFFFFFFF);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (!bits[i]) words[i / 32] &= ~(0x80000000U >> (i % 32));
  }
  return words;
}

TEST(JpegRuns, FormOneStream) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const bool full_bytes_often = round % 2 == 0;
    std::vector<bool> all;
    std::vector<std::vector<std::uint32_t>> slots;
    std::vector<std::uint32_t> counts;
    const std::size_t runs = 1 + random() % 6;
    for (std::size_t i = 0; i < runs; ++i) {
      // A run has at least 7 bits; the last one may have fewer.
      const auto count = static_cast<std::uint32_t>(i + 1 < runs ? 7 + random() % 150 : 1 + random() % 40);
      std::vector<bool> bits;
      while (bits.size() < count) bits.push_back(full_bytes_often ? random() % 16 != 0 : random() % 2 != 0);
      all.insert(all.end(), bits.begin(), bits.end());
      slots.push_back(slot_of(bits));
      counts.push_back(count);
    }
    std::vector<std::uint8_t> joined;
    std::uint64_t first_bit = 0;
    for (std::size_t i = 0; i < runs; ++i) {
      const RunBits bits{slots[i].data(), counts[i], i + 1 < runs ? slots[i + 1][0] : 0xFFFFFFFF};
      const RunBytes bytes = bytes_of_run(first_bit, counts[i]);
      for (std::uint32_t at = 0; at < bytes.count; at += 4) {
        const std::uint32_t word = bits.from(bytes.skipped + 8 * at);
        const std::uint32_t marks = mark_ff_bytes(word) & leading_byte_marks(bytes.count - at);
        for (std::uint32_t k = 0; k < 4 && at + k < bytes.count; ++k) {
          joined.push_back(static_cast<std::uint8_t>(word >> (24 - 8 * k)));
          ASSERT_EQ((marks >> (31 - 8 * k) & 1) != 0, joined.back() == 0xFF);
          if (joined.back() == 0xFF) joined.push_back(0);
        }
      }
      first_bit += counts[i];
    }
    ASSERT_EQ(joined, stuffed(all)) << "round " << round;
  }
}

TEST(JpegRuns, RunIndexFindsItsImage) {
  const std::vector<std::uint32_t> first{0, 1, 4, 5, 100};
  const auto image = [&](std::uint32_t run) { return last_at_most(first.data(), 5U, run); };
  EXPECT_EQ(image(0), 0U);
  EXPECT_EQ(image(1), 1U);
  EXPECT_EQ(image(3), 1U);
  EXPECT_EQ(image(4), 2U);
  EXPECT_EQ(image(99), 3U);
  EXPECT_EQ(image(100), 4U);
  EXPECT_EQ(image(1000), 4U);
}

// A block's bits overwrite its coefficients, but never one that is still to be read.
void expect_kept(const std::array<std::int32_t, kBlockSamples>& values, std::int32_t dc_difference) {
  struct Bits {
    std::uint32_t total = 0;
    void put(std::uint32_t, int count) { total += static_cast<std::uint32_t>(count); }
  } bits;
  std::uint64_t positions = 0;
  for (int i = 1; i < kBlockSamples; ++i) {
    if (values[static_cast<std::size_t>(i)] != 0) positions |= zigzag_index_bit(i);
  }
  const auto coded_at = [&](int position) {
    EXPECT_LE(bits.total / 32, static_cast<std::uint32_t>(kLead + position / 2)) << position;
    const std::int32_t value = values[static_cast<std::size_t>(position)];
    return value + (value >> 31);
  };
  for (const bool chroma : {false, true}) {
    bits.total = 0;
    code_block(dc_difference, positions, coded_at, encoding_codes(chroma).data(), bits);
    EXPECT_LE(bits.total, 32U * kColumnWords);
  }
}

TEST(JpegRuns, BitsNeverOverwriteUnreadCoefficients) {
  // The largest possible sum of squares, spread over `count` equal coefficients at every position.
  for (const auto& [count, size] : {std::pair{63, 128}, {16, 256}, {4, 512}, {1, 1023}}) {
    for (int first = 1; first + count <= kBlockSamples; ++first) {
      std::array<std::int32_t, kBlockSamples> values{};
      for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(first + i)] = i % 2 == 0 ? size : -size;
      expect_kept(values, 2047);
    }
  }
  // Blocks of extremes at quality 100.
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::int32_t block[kBlockSide][kBlockSide];
    const auto squares = 1U << random() % 4;
    const auto bias = random() % 8;
    for (unsigned y = 0; y < 8; ++y) {
      for (unsigned x = 0; x < 8; ++x) {
        block[y][x] = y % squares != 0   ? block[y - 1][x]
                      : x % squares != 0 ? block[y][x - 1]
                                         : static_cast<std::int32_t>(random() % 8 < bias ? 127 : -128);
      }
    }
    std::array<std::int32_t, kBlockSamples> values{};
    for (auto& row : block) forward_dct_pass<true>(row);
    std::int32_t coefficients[kBlockSide][kBlockSide];
    for (int x = 0; x < kBlockSide; ++x) {
      std::int32_t line[kBlockSide];
      for (int y = 0; y < kBlockSide; ++y) line[y] = block[y][x];
      forward_dct_pass<false>(line);
      for (int y = 0; y < kBlockSide; ++y) coefficients[y][x] = line[y];
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int32_t x = coefficients[kZigzag[i] / kBlockSide][kZigzag[i] % kBlockSide];
      values[i] = value_of_coded(coded_value(x, quantized_magnitude(x, quantizer_step(1))));
    }
    expect_kept(values, round % 2 == 0 ? 2047 : -2047);
  }
}

TEST(JpegRuns, GroupsReserveSpaceForEachImage) {
  EXPECT_EQ(JpegEncoding({}).memory().bytes, 0U);
  std::vector<JpegEncodingTask> tasks;
  for (const Size& size : awkward_sizes()) {
    if (size.width > kMaxJpegSide || size.height > kMaxJpegSide) continue;
    for (const int channels : {1, 3}) {
      JpegEncodingTask task;
      task.pixels = {nullptr, size.width, size.height, size.width * channels, channels};
      task.quality = 1 + static_cast<int>(tasks.size()) % 100;
      task.subsampled_chroma = tasks.size() % 4 == 1;
      tasks.push_back(task);
    }
  }
  const JpegEncoding encoding(tasks);
  const GroupMemory& memory = encoding.memory();
  EXPECT_EQ(memory.results_bytes, tasks.size() * sizeof(std::uint64_t));
  EXPECT_LE(memory.results_offset + memory.results_bytes, memory.bytes);
  std::vector<std::byte> upload(memory.upload_bytes + 1, std::byte{0xA5});
  encoding.write_upload(upload.data());
  EXPECT_EQ(upload.back(), std::byte{0xA5});
  // Impossible results are treated as lack of space.
  std::vector<std::byte> results(memory.results_bytes, std::byte{0xFF});
  std::size_t last = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(encoding.scan(i, results.data()).bytes, 0U);
    const std::uint64_t one = 1;
    std::memcpy(results.data() + i * sizeof one, &one, sizeof one);
    const JpegEncoding::Scan scan = encoding.scan(i, results.data());
    EXPECT_EQ(scan.bytes, 1U);
    EXPECT_GT(scan.offset, last);
    EXPECT_LT(scan.offset, memory.bytes);
    last = scan.offset;
  }
}

}  // namespace
}  // namespace imgpipe::test::jpeg_device_form_test

// Tests the PNG writer with strips as a device delivers them (here from the host's code), and the arithmetic
// of the kernels.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_filter.h"
#include "images/error.h"
#include "images/image.h"
#include "kernels/png/encoding.h"
#include "kernels/png/filter_word.h"
#include "kernels/png/window_tokens.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::png_device_form_test {
namespace {

using namespace png_strips;

Image picture(const std::string& content, Shape shape) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < shape.width * shape.channels; ++i)
      image.view().row(y)[i] = content_sample(content, i, y, 0, 3);
  }
  return image;
}

std::vector<std::byte> filtered_rows(ConstHostPlane rows) {
  const auto row_bytes = static_cast<std::size_t>(rows.row_samples());
  std::vector<std::byte> filtered((row_bytes + 1) * static_cast<std::size_t>(rows.height));
  auto* out = reinterpret_cast<std::uint8_t*>(filtered.data());
  for (std::int64_t y = 0; y < rows.height; ++y, out += row_bytes + 1)
    filter_png_row(rows.row(y), y == 0 ? nullptr : rows.row(y - 1), row_bytes,
                   static_cast<std::size_t>(rows.channels), out);
  return filtered;
}

std::vector<std::byte> file_by_rows(const Image& image, const EncodeOptions& options) {
  const auto writer = make_writer(Format::png, image.shape(), options);
  writer->write_rows(image.view());
  return writer->finish().joined();
}

// Gives the writer all strips, the last one first: every `nth` as filtered rows, the others compressed.
std::vector<std::byte> file_by_strips(const Image& image, const EncodeOptions& options, std::int64_t nth) {
  const auto writer = make_writer(Format::png, image.shape(), options);
  EXPECT_EQ(writer->device_form().kind, DeviceForm::Kind::png_strips);
  const std::int64_t height = image.shape().height;
  const std::int64_t rows = writer->strip_rows();
  StripDeflater deflater(1);
  for (std::int64_t strip = (height - 1) / rows; strip >= 0; --strip) {
    const std::int64_t first = strip * rows;
    const auto filtered = filtered_rows(image.view().rows(first, std::min(rows, height - first)));
    Writer::EncodedStrip made{filtered, adler32_of(filtered), strip % nth == 0};
    if (!made.filtered) made.bytes = deflater.compress(filtered, first + rows >= height);
    writer->give_strip(first, made);
  }
  return writer->finish().joined();
}

TEST(PngDeviceForm, GivenStripsProduceTheSameFile) {
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{1, 1, 4}, Shape{1, 900, 2}, Shape{900, 1, 3},
                             Shape{701, 1100, 1}, Shape{640, 900, 3}, Shape{300007, 5, 2}}) {
    for (const std::string& content : contents()) {
      // Large images are slow with sanitizers, and what matters of them is that they have several strips.
      if (shape.samples() > 100'000 && content != "noise" && content != contents().front()) continue;
      const Image image = picture(content, shape);
      for (const Mark mark : {Mark::none, Mark::result}) {
        if (mark == Mark::result && content != contents().front()) continue;  // the mark precedes the strips
        const EncodeOptions options{.mark = mark};
        const std::vector<std::byte> expected = file_by_rows(image, options);
        EXPECT_TRUE(file_by_strips(image, options, 1) == expected) << content << shape.width;
        EXPECT_TRUE(file_by_strips(image, options, 2) == expected) << content << shape.width;
        EXPECT_TRUE(file_by_strips(image, options, 1000) == expected) << content << shape.width;
      }
    }
  }
}

TEST(PngDeviceForm, OnlyIfTheResultIsTheSame) {
  const auto kind = [](Shape shape, const EncodeOptions& options) {
    return make_writer(Format::png, shape, options)->device_form().kind;
  };
  EXPECT_EQ(kind({9, 9, 1}, {}), DeviceForm::Kind::png_strips);
  EXPECT_EQ(kind({9, 9, 4}, {}), DeviceForm::Kind::png_strips);
  for (const int level : {0, 2, 3, 4, 9})
    EXPECT_EQ(kind({9, 9, 1}, {.png_level = level}), DeviceForm::Kind::none);
  EXPECT_EQ(kind({9, 9, 1}, {.codec = CodecChoice::stb}), DeviceForm::Kind::none);
  EXPECT_EQ(kind({9, 9, 1}, {.codec = CodecChoice::turbo}), DeviceForm::Kind::none);
  EXPECT_EQ(kind({(std::int64_t{1} << 28) - 1, 1, 4}, {}), DeviceForm::Kind::png_strips);
  EXPECT_EQ(kind({std::int64_t{1} << 28, 1, 4}, {}), DeviceForm::Kind::none);
  // A writer that must first convert its rows, here grey to RGB, has no device form.
  EXPECT_EQ(make_writer(Format::ppm, {9, 9, 1})->device_form().kind, DeviceForm::Kind::none);
}

TEST(PngDeviceForm, InvalidStripsAreRejected) {
  const Shape shape{1000, 2000, 1};
  const std::vector<std::byte> bytes(1001);
  const auto refused = [&](const EncodeOptions& options, std::int64_t first,
                           const Writer::EncodedStrip& strip) {
    const auto writer = make_writer(Format::png, shape, options);
    try {
      writer->give_strip(first, strip);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_FALSE(refused({}, 0, {bytes, 1, false}));
  EXPECT_TRUE(refused({}, -523, {bytes, 1, false}));
  EXPECT_TRUE(refused({}, 1, {bytes, 1, false}));
  EXPECT_TRUE(refused({}, 523 * 4, {bytes, 1, false}));
  EXPECT_TRUE(refused({}, 0, {{}, 1, false}));
  EXPECT_TRUE(refused({}, 0, {bytes, 1, true}));
  EXPECT_TRUE(refused({.png_level = 2}, 0, {bytes, 1, false}));
  EXPECT_TRUE(refused({.codec = CodecChoice::stb}, 0, {bytes, 1, false}));
}

// ---- the kernels' arithmetic --------------------------------------------------------------------------

int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int to_a = std::abs(p - a), to_b = std::abs(p - b), to_c = std::abs(p - c);
  if (to_a <= to_b && to_a <= to_c) return a;
  return to_b <= to_c ? b : c;
}

// Every a and b, with a different c in each byte of the words, so that all four bytes see every c.
TEST(PngDeviceForm, FourByteFiltersEqualTheStandard) {
  const auto all = [](unsigned byte) { return byte * 0x01010101U; };
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      for (unsigned c = (a + b) % 4; c < 256; c += 4) {
        const unsigned x = 77 * a + 31 * b + c;
        const std::uint32_t cs = c | (c ^ 1) << 8 | (c ^ 2) << 16 | (c ^ 3) << 24;
        std::uint32_t xs = 0;
        for (int i = 0; i < 32; i += 8) xs |= ((x + 90U * static_cast<unsigned>(i)) & 255) << i;
        const FilterWords n{xs, all(a), all(b), cs};
        const std::array<std::uint32_t, 5> words{filtered_word<kNone>(n), filtered_word<kSub>(n),
                                                 filtered_word<kUp>(n), filtered_word<kAverage>(n),
                                                 filtered_word<kPaeth>(n)};
        for (int i = 0; i < 32; i += 8) {
          const unsigned v = xs >> i & 255;
          const auto p = static_cast<unsigned>(
              paeth(static_cast<int>(a), static_cast<int>(b), static_cast<int>(cs >> i & 255)));
          const std::array<unsigned, 5> expected{v, v - a, v - b, v - (a + b) / 2, v - p};
          for (std::size_t f = 0; f < 5; ++f)
            ASSERT_EQ(words[f] >> i & 255, expected[f] & 255) << f << " " << a << " " << b << " " << c;
        }
      }
    }
  }
  EXPECT_EQ(add_magnitudes(0x80FF7F01, 5), 5U + 128 + 1 + 127 + 1);
  const std::array<std::uint32_t, 5> sums{7, 5, 4, 4, 9};
  EXPECT_EQ(best_filter(sums.data(), true), kUp);
  EXPECT_EQ(best_filter(sums.data(), false), kSub);
  EXPECT_EQ(byte_mask(0b1010), 0xFF00FF00U);
  for (unsigned bits = 0; bits < 16; ++bits) {
    for (const std::uint32_t bytes : {0x01010101U, 0x80808080U, 0xFF7F8001U})
      EXPECT_EQ(equal_bytes_high(bytes & ~byte_mask(bits)) >> 28, bits);
  }
}

// A token of a strip. Tokens are computed window by window, each window from its 32 bytes and two numbers.
struct Token {
  std::size_t at;
  std::size_t length;  // 1: a literal
  friend bool operator==(const Token&, const Token&) = default;
};

std::vector<Token> tokens_by_windows(const std::vector<std::uint8_t>& strip) {
  std::vector<bool> equal(strip.size() + 64);
  for (std::size_t i = 1; i < strip.size(); ++i) equal[i] = strip[i] == strip[i - 1];
  std::vector<Token> tokens;
  for (std::size_t begin = 0; begin < strip.size(); begin += kWindowBytes) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < kWindowBytes; ++i) bits |= std::uint32_t{equal[begin + i]} << i;
    std::uint32_t in = 0, out = 0;
    while (in < begin && equal[begin - 1 - in]) ++in;
    while (begin + kWindowBytes + out < equal.size() && equal[begin + kWindowBytes + out]) ++out;
    WindowCopies copies;
    std::vector<std::uint32_t> starting;
    for_each_run(bits, in, out, [&](const Run& run) {
      copies.add(run);
      if (run.first >= 0 && (run.first > 0 || in == 0)) starting.push_back(run.length);
    });
    const StartingRuns runs(bits, in, out);
    std::vector<std::uint32_t> expected;
    if (runs.inner >= kMinRun) {
      expected.push_back(runs.inner);
      EXPECT_TRUE(equal[begin + runs.inner_last] && !equal[begin + runs.inner_last + 1]);
    }
    if (runs.last >= kMinRun) expected.push_back(runs.last);
    EXPECT_EQ(starting, expected);
    unsigned copy = 0;
    for (unsigned i = 0; i < kWindowBytes && begin + i < strip.size(); ++i) {
      if ((copies.starts >> i & 1) != 0) {
        tokens.push_back({begin + i, copies.lengths[copy++]});
      } else if ((copies.copied >> i & 1) == 0) {
        tokens.push_back({begin + i, 1});
      }
    }
    EXPECT_EQ(copy, copies.count);
  }
  return tokens;
}

std::vector<Token> tokens_by_rule(const std::vector<std::uint8_t>& strip) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < strip.size();) {
    std::size_t run = 0;
    while (i > 0 && i + run < strip.size() && strip[i + run] == strip[i - 1]) ++run;
    if (run < kMinRun) {
      tokens.push_back({i++, 1});
      for (; run > 1; --run) tokens.push_back({i++, 1});
      continue;
    }
    while (run > 0) {
      const std::size_t length = run >= kMaxCopy ? kMaxCopy : run < kMinCopy ? 1 : run;
      tokens.push_back({i, length});
      i += length;
      run -= length;
    }
  }
  return tokens;
}

void check_tokens(const std::vector<std::uint8_t>& strip, const std::string& name) {
  ASSERT_TRUE(tokens_by_windows(strip) == tokens_by_rule(strip)) << name;
}

TEST(PngDeviceForm, WindowsDetermineTheirTokens) {
  for (std::size_t run = 1; run <= 800; run += kSanitized ? 7 : 1) {
    for (const std::size_t before : {0U, 1U, 15U, 16U, 30U, 31U, 32U, 33U, 47U}) {
      std::vector<std::uint8_t> strip;
      for (std::size_t i = 0; i < before; ++i) strip.push_back(static_cast<std::uint8_t>(i % 2));
      strip.insert(strip.end(), run + 1, 9);
      if (run % 3 != 0) strip.insert(strip.end(), run % 40 + 1, 8);
      check_tokens(strip, std::to_string(before) + " " + std::to_string(run));
      if (HasFatalFailure()) return;
    }
  }
  std::mt19937 random(5);
  for (int round = 0; round < (kSanitized ? 50 : 300); ++round) {
    std::vector<std::uint8_t> strip;
    while (strip.size() < 3000) {
      const std::size_t run = 1 + (random() % 4 == 0 ? random() % 700 : random() % 40);
      strip.insert(strip.end(), run, static_cast<std::uint8_t>(random() % 3));
    }
    check_tokens(strip, std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

// However a run is cut, its copies are complete and never repeated.
TEST(PngDeviceForm, SharesCoverTheRunOnce) {
  for (const std::uint32_t length : {16U, 257U, 258U, 259U, 260U, 261U, 516U, 518U, 519U, 5000U}) {
    const RunShare all(length, 0, length);
    ASSERT_EQ(all.longest, length / 258);
    ASSERT_EQ(all.rest, length % 258 < 3 ? 0 : length % 258);
    ASSERT_EQ(all.copied, all.longest * 258 + all.rest);
    for (std::uint32_t cut = 0; cut <= length; ++cut) {
      const RunShare first(length, 0, cut);
      const RunShare second(length, cut, length);
      ASSERT_EQ(first.longest + second.longest, all.longest) << length << " " << cut;
      ASSERT_EQ(first.rest + second.rest, all.rest) << length << " " << cut;
      ASSERT_EQ(first.copied + second.copied, all.copied) << length << " " << cut;
    }
  }
}

// Plans groups without a device: for all shapes, parts do not overlap.
TEST(PngDeviceForm, GroupPartsDoNotOverlap) {
  std::vector<PngEncodingTask> tasks;
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{3264, 2448, 1}, Shape{365, 274, 3},
                             Shape{200'000'000, 1, 1}, Shape{1, 2'000'000, 4}, Shape{600'000, 3, 2}}) {
    const auto writer = make_writer(Format::png, shape);
    tasks.push_back(
        {{nullptr, shape.width, shape.height, shape.row_bytes(), shape.channels}, writer->strip_rows()});
  }
  std::size_t before = 0;
  for (std::size_t count = 0; count <= tasks.size(); ++count) {
    const PngEncoding encoding(
        std::vector(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(count)));
    const GroupMemory& memory = encoding.memory();
    EXPECT_LE(memory.upload_bytes, memory.results_offset);
    EXPECT_LE(memory.results_offset + memory.results_bytes, memory.bytes);
    if (count > 0) {
      const auto bytes = static_cast<double>(tasks[count - 1].pixels.shape().bytes());
      EXPECT_GT(static_cast<double>(memory.bytes - before), 2 * bytes);
      EXPECT_LT(static_cast<double>(memory.bytes - before), 6 * bytes + 1'000'000);
      const std::vector<std::byte> results(memory.results_bytes);
      EXPECT_EQ(
          static_cast<std::int64_t>(encoding.strips(count - 1, results.data()).size()),
          (tasks[count - 1].pixels.height + tasks[count - 1].strip_rows - 1) / tasks[count - 1].strip_rows);
    }
    before = memory.bytes;
  }
}

}  // namespace
}  // namespace imgpipe::test::png_device_form_test

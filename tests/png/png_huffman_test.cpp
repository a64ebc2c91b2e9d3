// Level 1 of the PNG writer (images/codecs/png/strip_rule.h): tokens, the choice between Huffman codes,
// stored blocks and ISA-L; read back by zlib, ISA-L, stb, libpng and our own reader.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "images/codecs/codec.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/huffman_code.h"
#include "images/codecs/png/inflate.h"
#include "images/codecs/png/strip_block.h"
#include "images/codecs/png/strip_repeats.h"
#include "images/codecs/png/strip_rule.h"
#include "images/image.h"
#include "images/simd.h"
#include "tests/support/images.h"

namespace imgpipe::test::png_huffman_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

// ---- strips -------------------------------------------------------------------------------------------

enum class Kind { huffman, stored, isal };

// Returns the kind, detected from the first block: ISA-L's strips begin with 32 stored bytes.
Kind kind_of(std::span<const std::byte> made, std::size_t strip_bytes) {
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(made[i]); };
  const unsigned type = byte(0) >> 1 & 3;
  if (type == 2) return Kind::huffman;
  EXPECT_EQ(type, 0U);
  const bool isal = byte(1) == 32 && byte(2) == 0 && strip_bytes != 32;
  return isal ? Kind::isal : Kind::stored;
}

Bytes raw_inflated(std::span<const std::byte> stream, std::size_t size) {
  Bytes out(size + 1);
  z_stream zlib{};
  EXPECT_EQ(inflateInit2(&zlib, -MAX_WBITS), Z_OK);
  zlib.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = out.data();
  zlib.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&zlib, Z_SYNC_FLUSH);
  EXPECT_TRUE(status == Z_OK || status == Z_STREAM_END) << status << (zlib.msg == nullptr ? "" : zlib.msg);
  EXPECT_EQ(zlib.avail_in, 0U);
  out.resize(size + 1 - zlib.avail_out);
  inflateEnd(&zlib);
  return out;
}

Bytes isal_inflated(std::span<const std::byte> made, const Bytes& strip) {
  std::vector<std::byte> stream = zlib_header(1);
  stream.insert(stream.end(), made.begin(), made.end());
  const std::uint32_t adler = adler32_of(std::as_bytes(std::span(strip)));
  for (int shift = 24; shift >= 0; shift -= 8) stream.push_back(static_cast<std::byte>(adler >> shift));
  Bytes out(strip.size() + 1);
  ZlibInflater inflater;
  std::span<const std::byte> in(stream);
  out.resize(inflater.inflate(in, std::as_writable_bytes(std::span(out))));
  EXPECT_TRUE(inflater.finished());
  return out;
}

// Compresses a strip as an inner strip and as the last one, and reads both back; returns its kind.
Kind check_strip(const Bytes& strip, const std::string& name) {
  StripDeflater deflater(1);
  Kind kind{};
  for (const bool last : {false, true}) {
    const auto made = deflater.compress(std::as_bytes(std::span(strip)), last);
    EXPECT_LE(static_cast<std::int64_t>(made.size()),
              max_compressed_bytes(static_cast<std::int64_t>(strip.size())))
        << name;
    EXPECT_TRUE(raw_inflated(made, strip.size()) == strip) << name << last;
    kind = kind_of(made, strip.size());
    if (last) {
      EXPECT_TRUE(isal_inflated(made, strip) == strip) << name;
    } else if (kind == Kind::huffman) {
      constexpr std::array<unsigned, 4> kEnd{0, 0, 0xFF, 0xFF};
      EXPECT_TRUE(std::ranges::equal(made.last(4), kEnd, {}, [](std::byte b) {
        return std::to_integer<unsigned>(b);
      })) << name;
    }
  }
  return kind;
}

// Checks the block alone, whatever the rule chooses: exact size, canaries, bytes.
void check_block(const Bytes& strip, const std::string& name) {
  const StripBlock block(count_tokens(strip));
  for (const bool last : {false, true}) {
    const std::size_t bytes = block.bytes(last);
    Bytes out(bytes + StripBlock::kSlack + 16, 0xC7);
    block.write(strip, last, nullptr, out.data());
    ASSERT_TRUE(std::all_of(out.end() - 16, out.end(), [](std::uint8_t b) { return b == 0xC7; })) << name;
    Bytes by_pairs(out.size(), 0xC7);
    const auto pairs = std::make_unique<PairTable>();
    block.write(strip, last, pairs.get(), by_pairs.data());
    ASSERT_TRUE(by_pairs == out) << name;
    ASSERT_TRUE(raw_inflated(std::as_bytes(std::span(out).first(bytes)), strip.size()) == strip) << name;
    Bytes stored(stored_bytes(strip.size()) + 16, 0xC7);
    write_stored(strip, last, stored.data());
    ASSERT_TRUE(std::all_of(stored.end() - 16, stored.end(), [](std::uint8_t b) { return b == 0xC7; }));
    const auto made = std::as_bytes(std::span(stored).first(stored_bytes(strip.size())));
    ASSERT_TRUE(raw_inflated(made, strip.size()) == strip) << name;
  }
}

// Residuals like a photograph's: independent, small ones most often.
Bytes photo_like(std::size_t size, std::uint64_t seed, int spread = 6) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) {
    int sum = 0;
    for (std::uint64_t bits = random(); bits != 0; bits >>= 8) sum += static_cast<int>(bits & 255) - 128;
    byte = static_cast<std::uint8_t>(sum * spread / 200);
  }
  return bytes;
}

Bytes noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// Like rendered text: 40 random words, repeated in random order, between runs of zeros.
Bytes text_like(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Bytes> words(40);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = noise(12 + random() % 30, seed * 99 + i);
  Bytes bytes;
  while (bytes.size() < size) {
    const Bytes& word = words[random() % words.size()];
    bytes.insert(bytes.end(), word.begin(), word.end());
    bytes.resize(bytes.size() + random() % 60);
  }
  bytes.resize(size);
  return bytes;
}

// Frequencies for the deepest tree, in an order without runs.
Bytes fibonacci_like(std::size_t symbols) {
  Bytes bytes;
  std::size_t before = 1, last = 1;
  for (std::size_t s = 0; s < symbols; ++s) {
    bytes.insert(bytes.end(), last, static_cast<std::uint8_t>(s * 7));
    last = before + std::exchange(before, last);
  }
  std::shuffle(bytes.begin(), bytes.end(), std::mt19937_64(4));
  return bytes;
}

std::map<std::string, Bytes> awkward_strips() {
  std::map<std::string, Bytes> strips;
  for (const std::size_t size :
       {1U, 2U, 3U, 31U, 32U, 33U, 64U, 65U, 66U, 128U, 129U, 1000U, 70000U, 524288U}) {
    const std::string number = std::to_string(size);
    strips["zeros " + number] = Bytes(size, 0);
    strips["constant " + number] = Bytes(size, 201);
    strips["noise " + number] = noise(size, size);
    strips["photo " + number] = photo_like(size, size);
    strips["text " + number] = text_like(size, size);
    Bytes two(size);
    for (std::size_t i = 0; i < size; ++i) two[i] = i % 2 != 0 ? 9 : 255;
    strips["two " + number] = two;
    Bytes all(size);
    std::iota(all.begin(), all.end(), std::uint8_t{0});
    strips["all " + number] = all;
  }
  strips["one and another"] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 7};
  for (const std::size_t symbols : {3U, 15U, 16U, 17U, 26U}) {
    strips["fibonacci " + std::to_string(symbols)] = fibonacci_like(symbols);
  }
  Bytes equal(std::size_t{256} * 300);
  for (std::size_t i = 0; i < equal.size(); ++i) equal[i] = static_cast<std::uint8_t>(i * 167);
  std::shuffle(equal.begin(), equal.end(), std::mt19937_64(8));
  strips["256 equal"] = equal;
  return strips;
}

TEST(PngHuffman, AwkwardStripsReadBack) {
  for (const auto& [name, strip] : awkward_strips()) {
    check_block(strip, name);
    (void)check_strip(strip, name);
    if (HasFatalFailure()) return;
  }
  check_block({}, "empty");
  EXPECT_GT(StripBlock(count_tokens(fibonacci_like(26))).lengths()[0], 14) << "the limit was never reached";
}

// Computes the expected counts of each run directly from RFC 1951 and the rule.
TEST(PngHuffman, RunsOfEveryLengthAnywhere) {
  for (std::size_t run = 1; run <= 600; ++run) {
    for (const std::size_t before : {0U, 1U, 7U, 62U, 63U, 64U, 65U, 130U}) {
      if (before > 7 && run % 7 > 1) continue;
      for (const std::size_t after : {0U, 1U, 70U}) {
        Bytes strip(before + 1 + run + after, 77);
        for (std::size_t i = 0; i < before; ++i) strip[i] = static_cast<std::uint8_t>(i % 60);
        for (std::size_t i = 0; i < after; ++i)
          strip[before + 1 + run + i] = static_cast<std::uint8_t>(i % 60 + 100);
        const StripCounts counts = count_tokens(strip);
        std::size_t copies = run < kMinRun ? 0 : run / kMaxCopy;
        std::size_t copied = copies * kMaxCopy;
        if (run >= kMinRun && run % kMaxCopy >= kMinCopy) {
          ++copies;
          copied += run % kMaxCopy;
        }
        ASSERT_EQ(counts.copies, copies) << before << " " << run << " " << after;
        ASSERT_EQ(counts.copied_bytes, copied);
        ASSERT_EQ(counts.symbols[77], 1 + run - copied);
        std::uint64_t literals = 0;
        for (std::size_t s = 0; s < 256; ++s) literals += counts.symbols[s];
        ASSERT_EQ(literals + copied, strip.size());
        check_block(strip, std::to_string(run));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(PngHuffman, LengthSymbolsFollowTheStandard) {
  const std::map<std::size_t, std::array<unsigned, 3>> expected{
      {3, {257, 0, 0}},    {10, {264, 0, 0}},  {11, {265, 1, 0}},   {12, {265, 1, 1}},
      {18, {268, 1, 1}},   {19, {269, 2, 0}},  {34, {272, 2, 3}},   {35, {273, 3, 0}},
      {66, {276, 3, 7}},   {67, {277, 4, 0}},  {130, {280, 4, 15}}, {131, {281, 5, 0}},
      {226, {283, 5, 31}}, {227, {284, 5, 0}}, {257, {284, 5, 30}}, {258, {285, 0, 0}}};
  for (const auto& [length, symbol] : expected) {
    const LengthSymbol got = length_symbol(length);
    EXPECT_EQ((std::array<unsigned, 3>{got.symbol, got.extra_bits, got.extra}), symbol) << length;
  }
}

// ---- the rule -----------------------------------------------------------------------------------------

TEST(PngHuffman, RuleDetectsMatches) {
  constexpr std::size_t kSize = 524288;
  EXPECT_EQ(check_strip(photo_like(kSize, 1), "photo"), Kind::huffman);
  EXPECT_EQ(check_strip(photo_like(kSize, 2, 1), "smooth"), Kind::huffman);
  EXPECT_EQ(check_strip(photo_like(kSize, 3, 40), "noisy"), Kind::huffman);
  EXPECT_EQ(check_strip(Bytes(kSize, 0), "constant"), Kind::huffman);
  EXPECT_EQ(check_strip(noise(kSize, 1), "noise"), Kind::stored);
  EXPECT_EQ(check_strip(text_like(kSize, 1), "text"), Kind::isal);
  Bytes tiles(kSize);
  const Bytes tile = noise(3001, 5);
  for (std::size_t i = 0; i < kSize; ++i) tiles[i] = tile[i % tile.size()];
  EXPECT_EQ(check_strip(tiles, "tiles"), Kind::isal);
  Bytes short_tiles(kSize);
  for (std::size_t i = 0; i < kSize; ++i) short_tiles[i] = tile[i % 7];
  EXPECT_EQ(check_strip(short_tiles, "short tiles"), Kind::isal);
}

// Photographs must not pay the cost of ISA-L: checks the rule's choice, not the result.
TEST(PngHuffman, WindowsOfPhotographsDoNotRepeat) {
  const auto tried = [](const Bytes& strip) {
    return should_try_matches(strip, StripBlock(count_tokens(strip)));
  };
  for (const int spread : {1, 2, 6, 20, 60}) EXPECT_FALSE(tried(photo_like(524288, 9, spread))) << spread;
  EXPECT_FALSE(tried(noise(524288, 9)));
  EXPECT_TRUE(tried(text_like(524288, 9)));
  EXPECT_TRUE(tried(photo_like(kAlwaysTryBelowBytes - 1, 9)));
  EXPECT_FALSE(tried(photo_like(kAlwaysTryBelowBytes, 9)));
  EXPECT_FALSE(tried(Bytes(524288, 0)));
  EXPECT_EQ(find_repeats(Bytes(kRepeatCell + kMaxWindowBytes - 1, 1), std::array<std::uint8_t, 256>{},
                         WindowPosition::min_key)
                .windows,
            0U);
}

// Coloured dots on transparent white have rare bytes, with the least keys, within a period of four. Narrow
// images have a short period and only two byte values.
TEST(PngHuffman, PeriodsSelectMatches) {
  Bytes dots;
  std::mt19937 random(3);
  while (dots.size() < 524288) {
    const bool dot = random() % 33 == 0;
    for (int c = 0; c < 3; ++c) dots.push_back(static_cast<std::uint8_t>(dot ? random() : 255));
    dots.push_back(dot ? 255 : 0);
  }
  EXPECT_EQ(check_strip(dots, "dots"), Kind::isal);
  for (const std::size_t period : {3U, 5U, 10U, 17U}) {
    Bytes narrow(524288, 0);
    for (std::size_t i = 0; i < narrow.size(); i += period) narrow[i] = 2;
    EXPECT_EQ(check_strip(narrow, "narrow"), Kind::isal) << period;
  }
}

// ---- the same bytes everywhere ------------------------------------------------------------------------

TEST(PngHuffman, EveryTargetProducesTheSameBytes) {
  std::map<std::string, std::vector<std::byte>> expected;
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (const auto& [name, strip] : awkward_strips()) {
      StripDeflater deflater(1);
      const auto made = deflater.compress(std::as_bytes(std::span(strip)), false);
      const std::vector<std::byte> bytes(made.begin(), made.end());
      const auto [position, first] = expected.try_emplace(name, bytes);
      EXPECT_TRUE(first || position->second == bytes) << target << " " << name;
      const StripRepeats repeats =
          find_repeats(strip, StripBlock(count_tokens(strip)).lengths(), WindowPosition::min_key);
      const auto [count, new_count] = expected.try_emplace(
          name + " repeats", std::vector<std::byte>(repeats.windows + 2 * repeats.repeated));
      EXPECT_TRUE(new_count || count->second.size() == repeats.windows + 2 * repeats.repeated)
          << target << name;
    }
  }
  use_simd("");
}

// The rule is part of the format: if these checksums change, so does every file.
TEST(PngHuffman, BytesAreRecorded) {
  const auto crc = [](const Bytes& strip) {
    StripDeflater deflater(1);
    const auto made = deflater.compress(std::as_bytes(std::span(strip)), true);
    EXPECT_EQ(kind_of(made, strip.size()), Kind::huffman);
    return crc32_of(made);
  };
  EXPECT_EQ(crc(photo_like(524288, 1)), 2791257220U);
  EXPECT_EQ(crc(photo_like(524288, 2, 1)), 1192636457U);
  EXPECT_EQ(crc(Bytes(524288, 0)), 2504679266U);
  EXPECT_EQ(crc(fibonacci_like(26)), 1757635783U);
}

// ---- files --------------------------------------------------------------------------------------------

Image picture(const std::string& content, Shape shape) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < shape.width * shape.channels; ++i)
      image.view().row(y)[i] = content_sample(content, i, y, 0, 3);
  }
  return image;
}

TEST(PngHuffman, FilesReadBackWithEveryReader) {
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{1, 1, 4}, Shape{1, 900, 1}, Shape{900, 1, 3}, Shape{701, 1100, 1},
        Shape{640, 300, 3}, Shape{300, 250, 4}, Shape{200007, 3, 1}}) {
    for (const std::string& content : contents()) {
      const Image image = picture(content, shape);
      const auto writer = make_writer(Format::png, shape);
      writer->write_rows(image.view());
      const std::vector<std::byte> file = writer->finish().joined();
      for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
        const auto reader = open_reader(file, {.codec = codec});
        ASSERT_EQ(reader->header().shape, shape);
        Image back(shape);
        reader->read_rows(back.view());
        EXPECT_TRUE(reader->warnings().empty());
        ASSERT_EQ(first_difference(image.view(), std::as_const(back).view()), "") << content << shape.width;
      }
    }
  }
}

TEST(PngHuffman, FileDoesNotDependOnThreads) {
  const Image image = picture("ramp", {1501, 3001, 1});
  std::vector<std::byte> expected;
  for (const std::int64_t threads : {1, 2, 5}) {
    const auto writer = make_writer(Format::png, image.shape());
    const std::int64_t rows = writer->strip_rows();
    std::vector<std::thread> crew;
    for (std::int64_t t = 0; t < threads; ++t) {
      crew.emplace_back([&, t] {
        for (std::int64_t y = t * rows; y < 3001; y += threads * rows)
          writer->write_strip(y, image.view().rows(y, std::min(rows, 3001 - y)));
      });
    }
    for (std::thread& thread : crew) thread.join();
    const auto file = writer->finish().joined();
    if (expected.empty()) expected = file;
    EXPECT_TRUE(file == expected) << threads;
  }
}

}  // namespace
}  // namespace imgpipe::test::png_huffman_test

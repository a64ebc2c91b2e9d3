// Our own JPEG decoder equals libjpeg-turbo: verdict, message, warnings and pixels, by each Acceptance, for
// all requests of rows and all instruction sets. Also checks that this decoder ran.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "images/simd.h"
#include "tests/support/coded_jpegs.h"
#include "tests/support/files.h"
#include "tests/support/jpeg_pair.h"
#include "tests/support/made_jpegs.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::jpeg_exact_test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kMaxPixels = 40'000'000;

// Returns readings with one and with several threads, some in bands that are not whole MCUs, some with chunks
// of a few bytes.
std::vector<Reading> all_readings(std::uint64_t seed) {
  const auto odd = static_cast<std::int64_t>(1 + seed % 11);
  const std::size_t chunk_bytes = 1 + seed * 7 % 300;
  return {{},
          {.rows = odd, .scan_chunk_bytes = chunk_bytes},
          {8, 1},
          {.rows = odd, .threads = 1, .common = 2, .backwards = true},
          {.rows = 9, .threads = 1, .common = 1, .backwards = true, .scan_chunk_bytes = chunk_bytes},
          {odd, 2, 3},
          {.rows = 16, .threads = 3, .common = 4, .scan_chunk_bytes = chunk_bytes},
          {.rows = 1, .threads = 8, .common = 1, .scan_chunk_bytes = 16}};
}
// Returns readings for large images, most with bands as high as those of the engines.
std::vector<Reading> large_readings() {
  if (kSanitized)
    return {{37}, {64, 2, 4}, {.rows = 40, .threads = 3, .common = 1, .scan_chunk_bytes = 3000}};
  return {{},         {37},    {64, 1, 4}, {.rows = 50, .threads = 1, .common = 2, .backwards = true},
          {64, 2, 4}, {33, 3}, {16, 8, 2}, {.rows = 40, .threads = 3, .common = 1, .scan_chunk_bytes = 3000}};
}

// Expects that each of `readings`, by each Acceptance, equals libjpeg-turbo's result.
void expect_equal(const Bytes& file, const std::vector<Reading>& readings, std::string_view what) {
  for (const Acceptance accept : kEveryAcceptance) {
    const JpegOutcome expected = read_jpeg(file, jpeg_options(CodecChoice::turbo, accept, kMaxPixels));
    ASSERT_EQ(expected.decoder, "") << what;
    for (const Reading& reading : readings) {
      const JpegOutcome got =
          read_jpeg(file, jpeg_options(CodecChoice::automatic, accept, kMaxPixels), reading);
      ASSERT_EQ(difference(expected, got), "")
          << what << ", " << text_of(accept) << ", " << text_of(reading) << ", " << simd_target();
    }
  }
}

JpegOutcome automatic(const Bytes& file) {
  return read_jpeg(file, jpeg_options(CodecChoice::automatic, Acceptance::strict, kMaxPixels));
}

// Tests every file with the best instruction set, and a fifth of the files with each of the others.
class JpegExact : public testing::TestWithParam<int> {
 protected:
  static constexpr int kShards = 8;

  void TearDown() override { use_simd(""); }

  // make(seed) returns a file, what(seed) its description. Checks this shard's part of `count` files.
  static void check(int count, const auto& make, const auto& what) {
    const std::vector<std::string> targets = simd_targets();
    const int step = kSanitized ? 8 * kShards : kShards;
    for (int seed = GetParam(); seed < count; seed += step) {
      const auto number = static_cast<std::uint64_t>(seed);
      const Bytes file = make(number);
      for (std::size_t target = 0; target < targets.size(); ++target) {
        if (target > 0 && (number / kShards + target) % 5 != 0) continue;
        use_simd(targets[target]);
        ASSERT_NO_FATAL_FAILURE(expect_equal(file, all_readings(number), what(number)));
      }
    }
  }
};

TEST_P(JpegExact, GeneratedFiles) {
  check(
      2000, [](std::uint64_t seed) { return make_jpeg(random_jpeg(seed)); },
      [](std::uint64_t seed) {
        return "file " + std::to_string(seed) + ": " + description(random_jpeg(seed));
      });
}

TEST_P(JpegExact, CodedFiles) {
  check(
      2000, [](std::uint64_t seed) { return random_coded_jpeg(seed).file; },
      [](std::uint64_t seed) { return "coded file " + std::to_string(seed); });
}

INSTANTIATE_TEST_SUITE_P(Shards, JpegExact, testing::Range(0, 8));

// ---- the choice of decoder --------------------------------------------------------------------------

TEST(JpegDecoder, AcceptsOnlyPlainFiles) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const MadeJpeg jpeg = random_jpeg(seed);
    const JpegOutcome outcome = automatic(make_jpeg(jpeg));
    EXPECT_EQ(outcome.reason, "") << description(jpeg);
    if (jpeg.is_plain()) {
      EXPECT_EQ(outcome.decoder, "parallel") << description(jpeg);
      EXPECT_EQ(outcome.last_decoder, "parallel") << description(jpeg);
      EXPECT_TRUE(outcome.has_bands) << description(jpeg);
    }
    if (outcome.decoder.empty()) {
      EXPECT_FALSE(outcome.has_bands) << description(jpeg);
    }
    ++seen[jpeg.is_plain() ? "plain" : "other"];
  }
  EXPECT_GT(seen["plain"], 300);
  EXPECT_GT(seen["other"], 80);
}

TEST(JpegDecoder, AcceptsAnyCodes) {
  int plain = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const CodedJpeg jpeg = random_coded_jpeg(seed);
    const JpegOutcome outcome = automatic(jpeg.file);
    if (!jpeg.traits.none()) continue;
    EXPECT_EQ(outcome.reason, "") << seed;
    EXPECT_EQ(outcome.last_decoder, "parallel") << seed;
    ++plain;
  }
  EXPECT_GT(plain, 100);
}

TEST(JpegDecoder, LeavesUnsupportedFilesToTheLibrary) {
  MadeJpeg base;
  base.width = 50;
  base.height = 40;
  const auto left = [](const MadeJpeg& jpeg) {
    const JpegOutcome outcome = automatic(make_jpeg(jpeg));
    EXPECT_EQ(outcome.reason, "") << description(jpeg);
    EXPECT_EQ(outcome.decoder, "") << description(jpeg);
    EXPECT_FALSE(outcome.has_bands) << description(jpeg);
  };
  MadeJpeg other = base;
  other.coding = JpegCoding::progressive;
  left(other);
  other = base;
  other.scan_each = true;
  left(other);
#ifdef D_ARITH_CODING_SUPPORTED
  other = base;
  other.coding = JpegCoding::arithmetic;
  left(other);
#endif
  for (const J_COLOR_SPACE stored : {JCS_RGB, JCS_CMYK, JCS_YCCK}) {
    other = base;
    other.stored = stored;
    left(other);
  }
  for (const JpegFactors luma :
       {JpegFactors{4, 1}, JpegFactors{4, 2}, JpegFactors{3, 1}, JpegFactors{1, 4}}) {
    other = base;
    other.factors[0] = luma;
    left(other);
  }
  other = base;
  other.factors = {{{2, 2}, {2, 1}, {1, 1}}};
  left(other);
}

TEST(JpegDecoder, ForcedTurboDecodesEverything) {
  const Bytes file = make_jpeg({.width = 60, .height = 50});
  for (const CodecChoice codec : {CodecChoice::turbo, CodecChoice::stb}) {
    const JpegOutcome outcome = read_jpeg(file, jpeg_options(codec, Acceptance::strict, kMaxPixels));
    EXPECT_EQ(outcome.decoder, "");
    EXPECT_FALSE(outcome.has_bands);
  }
}

// Before any thread sees the end of the image, others may reach data that cameras append after it.
TEST(JpegDecoder, IsUsedDespiteTrailingData) {
  Bytes file = make_jpeg({.width = 800, .height = 600, .quality = 85, .content = JpegContent::noise});
  file.resize(file.size() + 400'000);
  const JpegOutcome expected =
      read_jpeg(file, jpeg_options(CodecChoice::turbo, Acceptance::strict, kMaxPixels));
  ASSERT_EQ(expected.reason, "");
  for (int round = 0; round < (kSanitized ? 3 : 20); ++round) {
    for (const int threads : {2, 8}) {
      const JpegOutcome got =
          read_jpeg(file, jpeg_options(CodecChoice::automatic, Acceptance::strict, kMaxPixels),
                    {.rows = 16, .threads = threads});
      ASSERT_EQ(difference(expected, got), "");
      ASSERT_EQ(got.last_decoder, "parallel") << threads << " threads, round " << round;
    }
  }
}

// A reader may be destroyed before all begun bands, or all rows, are read.
TEST(JpegDecoder, MayBeDestroyedInTheMiddle) {
  const Bytes file = make_jpeg({.width = 300, .height = 200, .content = JpegContent::noise});
  for (const std::int64_t given : {0, 1, 64, 190}) {
    const auto reader = open_reader(file);
    ASSERT_TRUE(reader->has_bands());
    reader->begin_band(0, given);
    reader->begin_band(given, 200 - given);
    if (given == 0) continue;
    Image band({300, given, 3});
    reader->read_band(0, band.untyped_view());
  }
  const auto reader = open_reader(file);
  Image rows({300, 17, 3});
  reader->read_rows(rows.view());
}

// ---- larger than a chunk ----------------------------------------------------------------------------

// Files of 100 KB to 3 MB, with several chunks each.
std::vector<MadeJpeg> large_jpegs() {
  using Content = JpegContent;
  constexpr std::array<JpegFactors, 4> k444{}, k422{{{2, 1}}}, k420{{{2, 2}}}, k440{{{1, 2}}};
  std::vector<MadeJpeg> all{
      {.width = 1500, .height = 1100, .factors = k420, .quality = 95, .content = Content::noise},
      {.width = 901, .height = 1100, .factors = k444, .quality = 90, .content = Content::noise},
      {.width = 1203, .height = 701, .factors = k422, .quality = 95, .content = Content::photo},
      {.width = 803,
       .height = 1201,
       .factors = k440,
       .quality = 98,
       .optimised = true,
       .content = Content::photo},
      {.width = 1500, .height = 900, .stored = JCS_GRAYSCALE, .quality = 92, .content = Content::noise},
      {.width = 700, .height = 600, .factors = k420, .quality = 100, .content = Content::saturated},
      // The bits do not reveal their position, because every block has the same two bits, or the same few
      // bits.
      {.width = 4400,
       .height = 2900,
       .factors = k444,
       .optimised = true,
       .one_table = true,
       .content = Content::constant},
      {.width = 4000,
       .height = 3500,
       .stored = JCS_GRAYSCALE,
       .optimised = true,
       .content = Content::gradient},
      {.width = 1200,
       .height = 900,
       .factors = k420,
       .quality = 90,
       .one_table = true,
       .content = Content::tiles},
      // Dense content, whose bits are mostly ones.
      {.width = 300, .height = 260, .factors = k444, .content = Content::dense},
      {.width = 640, .height = 300, .factors = k420, .step_percent = 100'000, .content = Content::extreme},
      {.width = 4000, .height = 3000, .factors = k420, .content = Content::sparse},
  };
  // With restart intervals shorter than a chunk, about as long, and longer.
  for (const int rows : {1, 7, 40}) {
    MadeJpeg jpeg = all.front();
    jpeg.restart_rows = rows;
    all.push_back(jpeg);
  }
  MadeJpeg each = all[1];
  each.restart_mcus = 1;
  all.push_back(each);
  return all;
}

class LargeJpegs : public testing::TestWithParam<MadeJpeg> {};

TEST_P(LargeJpegs, AreEqual) {
  const Bytes file = make_jpeg(GetParam());
  EXPECT_GT(file.size(), 130'000U) << "of more than one piece";
  EXPECT_EQ(automatic(file).last_decoder, "parallel");
  expect_equal(file, large_readings(), description(GetParam()));
}

// Damage anywhere, so that the library takes over after many rows.
TEST_P(LargeJpegs, AreEqualWhenDamaged) {
  const Bytes whole = make_jpeg(GetParam());
  const std::vector<Reading> readings = large_readings();
  constexpr std::size_t kPlaces = kSanitized ? 2 : 6;
  for (std::size_t position = 1; position <= kPlaces; ++position) {
    Bytes file = whole;
    const std::size_t at = 700 + (whole.size() - 700) * position / (kPlaces + 1);
    if (position % 3 == 0) file.resize(at);
    if (position % 3 == 1) file[at] ^= std::byte{0x10};
    if (position % 3 == 2) file[at] = std::byte{0xFF}, file[at + 1] = std::byte{0xD9};
    expect_equal(file, {readings[position % 2], readings[2 + position % (readings.size() - 2)]},
                 "place " + std::to_string(position));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LargeJpegs, testing::ValuesIn(large_jpegs()),
                         [](const auto& each) { return "number_" + std::to_string(each.index); });

// ---- real files -------------------------------------------------------------------------------------

TEST(JpegCorpus, EveryFile) {
  IMGPIPE_NEED_CORPUS();
  int files = 0;
  std::map<std::string, int> decoders;
  for (const auto& path : files_below(*corpus())) {
    const Bytes file = load(path);
    if (format_by_content(file) != Format::jpeg) continue;
    if (kSanitized) {
      expect_equal(file, {{64, 3, 4}}, path.string());
    } else {
      expect_equal(file, {{}, {13}, {64, 1, 4}, {64, 3, 4}, {16, 8}}, path.string());
    }
    ++decoders[automatic(file).last_decoder];
    ++files;
  }
  EXPECT_GE(files, 60);
  EXPECT_GT(decoders["parallel"], 20);
}

}  // namespace
}  // namespace imgpipe::test::jpeg_exact_test

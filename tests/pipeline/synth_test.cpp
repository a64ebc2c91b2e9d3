#include "images/synth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "images/error.h"
#include "tests/support/decoding.h"
#include "tests/support/images.h"

namespace imgpipe::test::synth_test {
namespace {

Image make(const std::string& pattern, Shape shape = {160, 120, 1}, std::uint64_t seed = 1) {
  return synthesize(parse_pattern(pattern), shape, seed);
}

std::array<std::int64_t, 256> counts(const Image& image) {
  std::array<std::int64_t, 256> out{};
  for (std::int64_t i = 0; i < image.shape().samples(); ++i) ++out[image.view().data[i]];
  return out;
}

std::uint64_t fnv1a(const Image& image) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (std::int64_t i = 0; i < image.shape().samples(); ++i)
    hash = (hash ^ image.view().data[i]) * 0x100000001B3U;
  return hash;
}

TEST(Synth, SameBytesEverywhere) {
  // Recorded from the first run; they change only if a pattern is changed on purpose.
  const std::vector<std::pair<std::string, std::uint64_t>> known{
      {"noise", 8010882882222106932U},         {"colors:5", 15133890796754095097U},
      {"threshold:90", 11862629777094483165U}, {"constant:3", 6177107880875094398U},
      {"ramp", 5861162349767860701U},          {"checker", 14964274108035948850U},
      {"photo", 7026720892795551860U},         {"collision-free", 12387033630848771627U}};
  for (const auto& [pattern, hash] : known) {
    EXPECT_EQ(fnv1a(make(pattern, {67, 45, 3}, 7)), hash) << pattern;
  }
}

// ---- 16 bits ------------------------------------------------------------------------------------------

Image make16(const std::string& pattern, Shape shape, std::uint64_t seed = 1) {
  shape.sample = Sample::u16;
  return synthesize(parse_pattern(pattern, Sample::u16), shape, seed);
}

TEST(SynthSixteenBits, PatternsHaveTheirValues) {
  EXPECT_EQ(samples(make16("constant:40000", {3, 2, 3})), Values(18, 40000));
  const Values noise = samples(make16("noise", {256, 256, 1}));
  const std::set<int> levels(noise.begin(), noise.end());
  EXPECT_GT(levels.size(), 40'000U);  // 65,536 (1 - 1/e) are expected
  EXPECT_LT(levels.size(), 43'000U);
  const Values few = samples(make16("colors:1525", {200, 200, 1}));
  EXPECT_EQ(std::set<int>(few.begin(), few.end()).size(), 1525U);
  EXPECT_EQ(*std::ranges::max_element(few), 65535);
  for (const int value : samples(make16("threshold:50000", {40, 40, 1})))
    EXPECT_TRUE(value == 0 || value >= 50000) << value;
  const Values ramp = samples(make16("ramp", {65536, 1, 1}));
  for (std::size_t i = 0; i < ramp.size(); ++i) ASSERT_EQ(ramp[i], static_cast<int>(i));
  EXPECT_EQ(samples(make16("checker", {9, 1, 1})), (Values{0, 0, 0, 0, 0, 0, 0, 0, 65535}));
  const Values all = samples(make16("collision-free", {256, 256, 1}));
  EXPECT_EQ(std::set<int>(all.begin(), all.end()).size(), 65536U);
  EXPECT_EQ(samples(make16("noise", {1, 3, 2}))[3], 32767);  // alpha of the middle row
  EXPECT_THROW((void)parse_pattern("constant:256"), Error);
  EXPECT_THROW((void)parse_pattern("constant:65536", Sample::u16), Error);
  EXPECT_THROW((void)synthesize(parse_pattern("constant:256", Sample::u16), {2, 2, 1}, 1), Error);
}

// The 16-bit photograph differs from the 8-bit one only by its finer grain and rounding.
TEST(SynthSixteenBits, PhotographEqualsTheEightBitOneMoreFinely) {
  const Values fine = samples(make16("photo", {120, 90, 3}));
  const Values coarse = samples(make("photo", {120, 90, 3}));
  for (std::size_t i = 0; i < fine.size(); ++i) ASSERT_NEAR(fine[i] / 257.0, coarse[i], 10) << i;
  EXPECT_GT((std::set<int>(fine.begin(), fine.end()).size()), 10'000U);
}

TEST(Synth, SeedsChangeTheImage) {
  for (const char* pattern : {"noise", "colors:7", "threshold:100", "photo", "collision-free"}) {
    EXPECT_NE(fnv1a(make(pattern, {40, 40, 3}, 1)), fnv1a(make(pattern, {40, 40, 3}, 2))) << pattern;
    EXPECT_EQ(fnv1a(make(pattern, {40, 40, 3}, 1)), fnv1a(make(pattern, {40, 40, 3}, 1))) << pattern;
  }
}

TEST(Synth, NoiseIsUniform) {
  const auto bins = counts(make("noise", {512, 512, 1}));
  for (const std::int64_t count : bins) EXPECT_NEAR(static_cast<double>(count), 1024, 200);  // 6 sigma
}

TEST(Synth, ColorsHaveTheirNumberAndAreEquallyLikely) {
  for (const int n : {1, 2, 3, 5, 17, 255, 256}) {
    const Image image = make("colors:" + std::to_string(n), {512, 512, 1});
    std::int64_t used = 0;
    for (const std::int64_t count : counts(image)) {
      if (count == 0) continue;
      ++used;
      const double expected = 512.0 * 512.0 / n;
      EXPECT_NEAR(static_cast<double>(count), expected, 6 * std::sqrt(expected) + 1);
    }
    EXPECT_EQ(used, n);
  }
}

TEST(Synth, ThresholdConstantRampChecker) {
  const auto bins = counts(make("threshold:200"));
  for (int v = 1; v < 200; ++v) EXPECT_EQ(bins[static_cast<std::size_t>(v)], 0);
  EXPECT_GT(bins[0], 160 * 120 * 7 / 10);
  EXPECT_GT(bins[255], 0);
  EXPECT_EQ(counts(make("threshold:256"))[0], 160 * 120);
  EXPECT_EQ(counts(make("constant:9"))[9], 160 * 120);
  const Image ramp = make("ramp", {256, 2, 1});
  for (int x = 0; x < 256; ++x) EXPECT_EQ(ramp.view().row(1)[x], x);
  const auto squares = counts(make("checker", {160, 160, 1}));
  EXPECT_EQ(squares[0], 12800);
  EXPECT_EQ(squares[255], 12800);
}

TEST(Synth, CollisionFreeNeverRepeatsWithin32) {
  for (const Shape shape : {Shape{160, 120, 1}, Shape{97, 31, 3}, Shape{5, 500, 1}}) {
    const Image image = make("collision-free", shape, 3);
    for (int c = 0; c < shape.channels; ++c) {
      for (std::int64_t i = 0; i + 32 <= shape.pixels(); ++i) {
        std::set<int> seen;
        for (std::int64_t k = i; k < i + 32; ++k) seen.insert(image.view().data[k * shape.channels + c]);
        ASSERT_EQ(seen.size(), 32U) << i;
      }
    }
  }
}

TEST(Synth, PhotoCanBeStretchedAndDiffersByChannel) {
  const Image image = make("photo", {400, 300, 3});
  const auto bins = counts(image);
  for (int v = 0; v < 8; ++v) EXPECT_EQ(bins[static_cast<std::size_t>(v)], 0);
  for (int v = 245; v < 256; ++v) EXPECT_EQ(bins[static_cast<std::size_t>(v)], 0);
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < image.shape().pixels(); ++i) {
    const Sample8* p = image.view().data + 3 * i;
    different += p[0] != p[1] && p[1] != p[2] && p[0] != p[2] ? 1 : 0;
  }
  EXPECT_GT(different, image.shape().pixels() / 2);
}

TEST(Synth, SmallestSizes) {
  for (const PatternInfo& info : pattern_table()) {
    const std::string pattern = std::string(info.name) + (info.argument.empty() ? "" : ":5");
    for (const Size& size : {Size{1, 1}, Size{1, 50}, Size{50, 1}, Size{3, 2}}) {
      EXPECT_NO_THROW((void)make(pattern, {size.width, size.height, 3})) << pattern;
    }
  }
}

TEST(Synth, RejectsUnknownPatterns) {
  for (const char* text :
       {"", "noisy", "colors", "colors:", "colors:0", "colors:257", "colors:5x", "colors:-1", "constant:256",
        "threshold:257", "noise:1", "ramp:", "constant:99999999999999"}) {
    EXPECT_THROW((void)parse_pattern(text), Error) << text;
  }
  EXPECT_THROW((void)make("noise", {4, 4, 5}), Error);
}

TEST(SynthAlpha, RisesFromTopToBottomWithoutChangingColours) {
  for (const Shape size : {Shape{1, 1, 0}, Shape{7, 1, 0}, Shape{1, 5, 0}, Shape{13, 300, 0}}) {
    for (const PatternInfo& info : pattern_table()) {
      for (const int colors : {1, 3}) {
        const Pattern pattern{&info, info.most};
        const Image plain = synthesize(pattern, {size.width, size.height, colors}, 9);
        const Image image = synthesize(pattern, {size.width, size.height, colors + 1}, 9);
        for (std::int64_t y = 0; y < size.height; ++y) {
          const auto alpha = size.height == 1 ? 0 : y * 255 / (size.height - 1);
          for (std::int64_t x = 0; x < size.width; ++x) {
            for (int c = 0; c < colors; ++c)
              ASSERT_EQ(image.view().row(y)[x * (colors + 1) + c], plain.view().row(y)[x * colors + c]);
            ASSERT_EQ(image.view().row(y)[x * (colors + 1) + colors], alpha) << x << "," << y;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::synth_test

// Tests that counts are complete, and that statistics are exact, rounded once, in any order.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "pipeline/engine.h"
#include "pipeline/statistics/counting_writer.h"
#include "pipeline/statistics/exact.h"
#include "pipeline/statistics/image_statistics.h"
#include "pipeline/statistics/sample_counts.h"

namespace imgpipe::test::stats_test {
namespace {

constexpr Sample kNarrow = Sample::u8, kWide = Sample::u16;

// Random samples; padding between the rows would be counted as 255 or 65,535.
class Pixels {
 public:
  Pixels(const Shape& shape, std::uint64_t seed, int levels = 0) : shape_(shape) {
    stride_ = shape.row_bytes() + 6;
    bytes_.assign(static_cast<std::size_t>(stride_ * shape.height), std::byte{0xFF});
    std::mt19937_64 random(seed);
    const auto most = static_cast<std::uint64_t>(levels > 0 ? levels - 1 : max_sample(shape.sample));
    for (std::int64_t y = 0; y < shape.height; ++y) {
      for (std::int64_t i = 0; i < shape.width * shape.channels; ++i) {
        const auto value = static_cast<std::uint16_t>(random() % (most + 1));
        values_.push_back(value);
        std::byte* at = bytes_.data() + y * stride_ + i * bytes_per_sample(shape.sample);
        if (shape.sample == kWide) {
          std::memcpy(at, &value, sizeof value);
        } else {
          *at = static_cast<std::byte>(value);
        }
      }
    }
  }
  [[nodiscard]] ConstHostView view() const { return {bytes_.data(), shape_, stride_}; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  // Returns the samples of one channel, sorted.
  [[nodiscard]] std::vector<int> sorted(int channel) const {
    std::vector<int> values;
    for (auto i = static_cast<std::size_t>(channel); i < values_.size();
         i += static_cast<std::size_t>(shape_.channels))
      values.push_back(values_[i]);
    std::ranges::sort(values);
    return values;
  }

 private:
  Shape shape_;
  std::int64_t stride_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::uint16_t> values_;
};

std::vector<std::uint64_t> counts_of(const std::vector<int>& values, Sample sample) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(max_sample(sample)) + 1);
  for (const int value : values) ++counts[static_cast<std::size_t>(value)];
  return counts;
}

void expect_counts(const SampleCounts& counts, const Pixels& pixels, const std::string& what) {
  ASSERT_EQ(counts.channels(), pixels.shape().channels) << what;
  ASSERT_EQ(counts.sample(), pixels.shape().sample) << what;
  for (int c = 0; c < counts.channels(); ++c) {
    const auto of = counts.of(c);
    EXPECT_EQ(std::vector<std::uint64_t>(of.begin(), of.end()), counts_of(pixels.sorted(c), counts.sample()))
        << what << " channel " << c;
  }
}

std::vector<Shape> awkward_shapes() {
  std::vector<Shape> shapes;
  for (const Sample sample : {kNarrow, kWide}) {
    for (int channels = 1; channels <= 4; ++channels) {
      for (const auto& [width, height] : std::vector<std::pair<int, int>>{
               {1, 1}, {1, 37}, {41, 1}, {3, 3}, {4, 5}, {7, 2}, {8, 2}, {9, 3}, {31, 17}, {257, 13}})
        shapes.push_back({width, height, channels, sample});
    }
  }
  return shapes;
}

std::string text_of(const Shape& shape) {
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.channels) + (shape.sample == kWide ? " u16" : " u8");
}

TEST(SampleCounts, EverySampleIsCountedOnce) {
  for (const Shape& shape : awkward_shapes()) {
    const Pixels pixels(shape, 11);
    SampleCounts counts(shape.channels, shape.sample);
    counts.count(pixels.view());
    expect_counts(counts, pixels, text_of(shape));
  }
}

TEST(SampleCounts, SumsSeparateCounts) {
  for (const Sample sample : {kNarrow, kWide}) {
    const Pixels pixels({29, 31, 3, sample}, 12, 40);
    SampleCounts one(3, sample);
    SampleCounts other(3, sample);
    for (std::int64_t y = 0; y < 31; ++y) (y % 3 == 0 ? one : other).count(pixels.view().rows(y, 1));
    one.add(other);
    expect_counts(one, pixels, "apart");
  }
}

TEST(CountingWriter, CountsStripsInAnyOrderFromSeveralThreads) {
  for (const Sample sample : {kNarrow, kWide}) {
    const Shape shape{2500, 211, 3, sample};
    const Pixels pixels(shape, 13);
    auto counts = std::make_shared<SampleCounts>();
    const auto writer = make_counting_writer(shape, counts);
    const std::int64_t strip = writer->strip_rows();
    ASSERT_GT(strip, 0);
    ASSERT_LT(strip, shape.height);
    std::vector<std::thread> threads;
    for (std::int64_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        const std::int64_t strips = (shape.height + strip - 1) / strip;
        for (std::int64_t i = strips - 1 - t; i >= 0; i -= 3)
          writer->write_strip(i * strip,
                              pixels.view().rows(i * strip, std::min(strip, shape.height - i * strip)));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(writer->finish().size_bytes(), 0U);
    expect_counts(*counts, pixels, "strips");
    EXPECT_EQ(writer->working_bytes(), SampleCounts::bytes_of(3, sample));
  }
}

TEST(CountingWriter, CountsRows) {
  for (const Shape& shape : awkward_shapes()) {
    const Pixels pixels(shape, 14);
    auto counts = std::make_shared<SampleCounts>();
    const auto writer = make_counting_writer(shape, counts);
    for (std::int64_t y = 0; y < shape.height; ++y) writer->write_rows(pixels.view().rows(y, 1));
    (void)writer->finish();
    expect_counts(*counts, pixels, text_of(shape));
  }
}

TEST(CountingWriter, RejectsRowsOfAnotherShape) {
  const Shape shape{9000, 100, 3};
  const Pixels pixels(shape, 15);
  auto counts = std::make_shared<SampleCounts>();
  const auto writer = make_counting_writer(shape, counts);
  EXPECT_THROW((void)writer->finish(), Error);
  writer->write_rows(pixels.view().rows(0, 99));
  EXPECT_THROW((void)writer->finish(), Error);
  EXPECT_THROW(writer->write_strip(1, pixels.view().rows(1, writer->strip_rows())), Error);
  EXPECT_THROW(writer->write_strip(0, pixels.view().rows(0, writer->strip_rows() + 1)), Error);
  EXPECT_THROW(writer->write_strip(-writer->strip_rows(), pixels.view().rows(0, writer->strip_rows())),
               Error);
  for (const Shape& other : {Shape{9000, 1, 4}, Shape{8999, 1, 3}, Shape{9000, 1, 3, kWide}})
    EXPECT_THROW(writer->write_rows(Pixels(other, 1).view()), Error) << text_of(other);
  writer->write_rows(pixels.view().rows(99, 1));
  (void)writer->finish();
  expect_counts(*counts, pixels, "after refusals");
}

// Rows go directly from the decoder to the counts, also with 16 bits.
TEST(CountingWriter, ReplacesAnEncoder) {
  for (const Sample sample : {kNarrow, kWide}) {
    for (int channels = 1; channels <= 4; ++channels) {
      for (const int threads : {1, 3}) {
        const Shape shape{101, 503, channels, sample};
        const Pixels pixels(shape, 17);
        auto counts = std::make_shared<SampleCounts>();
        Job job;
        job.reader = make_memory_reader(pixels.view());
        job.plan = make_plan({}, shape);
        job.writer = make_counting_writer(shape, counts);
        job.keep_pixels = false;
        const Outcome outcome = make_cpu_engine(threads)->run(std::move(job));
        if (outcome.error) std::rethrow_exception(outcome.error);
        expect_counts(*counts, pixels, text_of(shape));
      }
    }
  }
}

TEST(Exact, RatioIsRoundedOnce) {
  std::mt19937_64 random(16);
  for (int i = 0; i < 20'000; ++i) {
    // Both numbers fit a double, and a division of doubles is rounded once.
    const std::uint64_t numerator = random() >> (11 + random() % 50);
    const std::uint64_t denominator = (random() >> (11 + random() % 50)) + 1;
    ASSERT_EQ(rounded_ratio(numerator, denominator),
              static_cast<double>(numerator) / static_cast<double>(denominator))
        << numerator << "/" << denominator;
  }
  const std::uint64_t odd = (std::uint64_t{1} << 53) + 1;
  EXPECT_EQ(rounded_ratio(odd, 1), 0x1p53);  // halfway: to even
  EXPECT_EQ(rounded_ratio(odd + 2, 1), 0x1p53 + 4);
  EXPECT_EQ(rounded_ratio(2 * odd + 1, 2), 0x1p53 + 2);  // beyond halfway
  EXPECT_EQ(rounded_ratio(~std::uint64_t{0}, ~std::uint64_t{0}), 1.0);
  EXPECT_EQ(rounded_ratio(0, 7), 0.0);
}

struct RootCase {
  std::uint64_t high, low, divisor;
  double root;
};

// The roots come from Python: isqrt of the radicand times 2^800, and Fraction, which rounds once.
constexpr std::array kRoots{
    RootCase{0x0, 0x1, 0x1, 0x1p+0},
    RootCase{0x0, 0x2, 0x1, 0x1.6a09e667f3bcdp+0},
    RootCase{0x0, 0x2, 0x3, 0x1.e2b7dddfefa66p-2},
    RootCase{0x0, 0xa, 0x7, 0x1.ce98967d4faa8p-2},
    RootCase{0x4000000000000000, 0x0, 0x1000000000000, 0x1p+15},
    RootCase{0x3fffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0x1p-1},
    RootCase{0x0, 0x1, 0xffffffffffffffff, 0x1p-64},
    RootCase{0x0, 0x3, 0x8000000000000001, 0x1.bb67ae8584caap-63},
    RootCase{0x29d, 0x42b64e76714244cb, 0xffff, 0x1.9ded6dea9fb1cp+20},
    RootCase{0x40000000000, 0x40000000000001, 0x100000, 0x1p+33},                // halfway: to even, down
    RootCase{0x40000000000, 0xc0000000000009, 0x100000, 0x1.0000000000002p+33},  // and up
    RootCase{0x65bc8fbbc, 0xbde5c0994164d839, 0xf1446beab0c11fde, 0x1.5679d7848b7a6p-15},
    RootCase{0x1db387b0b125, 0xec1d7da0a6eb8c9e, 0x77330bdbd7210dff, 0x1.768b6a19a4727p-9},
    RootCase{0x6a320a6233255, 0x3fc1ea36f17fd374, 0x2827698de6a16a3b, 0x1.06ccafef0f3b6p-4},
    RootCase{0x0, 0x15f2dd97f, 0x3f1f65a8de527100, 0x1.3000fd04e4e35p-46},
    RootCase{0x9, 0x1a1afe878b33e968, 0x35b73993fd42359, 0x1.cc1ab5ec695eap-25},
    RootCase{0x5d39478c281d, 0x687c966c377b9aa2, 0xde11cd9dea959c21, 0x1.642cf7445e63ep-9}};

TEST(Exact, RootIsRoundedOnce) {
  for (const RootCase& row : kRoots)
    EXPECT_EQ(rounded_root(Uint128{row.high} << 64 | row.low, row.divisor), row.root)
        << row.high << " " << row.low;
  for (std::uint64_t root = 1; root < 100'000; root += 7) {
    for (const std::uint64_t divisor : {1U, 3U, 7U, 255U, 65535U})
      ASSERT_EQ(rounded_root(Uint128{root} * root, divisor), rounded_ratio(root, divisor));
  }
  EXPECT_EQ(rounded_root(0, 5), 0.0);
}

// Computes the statistics by their definitions, from all the values.
void expect_statistics(const ChannelStatistics& got, const std::vector<int>& sorted, int largest,
                       const std::vector<Percent>& percents, const std::string& what) {
  const auto samples = static_cast<std::int64_t>(sorted.size());
  const std::int64_t sum = std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0});
  ASSERT_EQ(got.samples, sorted.size()) << what;
  EXPECT_EQ(got.least, sorted.front()) << what;
  EXPECT_EQ(got.most, sorted.back()) << what;
  EXPECT_EQ(got.mean, static_cast<double>(sum) / static_cast<double>(samples)) << what;
  EXPECT_EQ(got.unit_mean, static_cast<double>(sum) / static_cast<double>(samples * largest)) << what;
  // N * (N * deviation)^2 is the sum of (N * value - sum)^2.
  SignedWide squared = 0;
  for (const int a : sorted) {
    const std::int64_t off = a * samples - sum;
    squared += static_cast<SignedWide>(off) * off;
  }
  const Uint128 radicand = static_cast<Uint128>(squared / samples);
  EXPECT_EQ(got.deviation, rounded_root(radicand, static_cast<std::uint64_t>(samples))) << what;
  EXPECT_EQ(got.unit_deviation, rounded_root(radicand, static_cast<std::uint64_t>(samples * largest)))
      << what;
  ASSERT_EQ(got.percentiles.size(), percents.size());
  for (std::size_t i = 0; i < percents.size(); ++i) {
    // The smallest value that at least this share of the samples do not exceed.
    std::size_t at = 0;
    while (static_cast<std::int64_t>(at + 1) * kAll < percents[i] * samples) ++at;
    EXPECT_EQ(got.percentiles[i], sorted[at]) << what << " percent " << percents[i];
  }
}

const std::vector<Percent> kPercents{
    0,          1,          100'000,    kWholePercent, 33'333'333, 25 * kWholePercent,
    50'000'000, 66'666'667, 75'000'000, 99'900'000,    99'999'999, kAll};

TEST(Statistics, FollowTheirDefinitions) {
  for (const Sample sample : {kNarrow, kWide}) {
    for (const int samples : {1, 2, 3, 4, 5, 10, 99, 100, 101, 997, 1000}) {
      for (const int levels : {1, 2, 3, 200, max_sample(sample) + 1}) {
        const Pixels pixels({samples, 1, 1, sample}, static_cast<std::uint64_t>(samples * 1000 + levels),
                            levels);
        const std::vector<int> sorted = pixels.sorted(0);
        expect_statistics(statistics_of(counts_of(sorted, sample), kPercents), sorted, max_sample(sample),
                          kPercents,
                          std::to_string(samples) + " samples, " + std::to_string(levels) + " levels");
      }
    }
  }
}

TEST(Statistics, HandComputedValues) {
  const std::vector<Percent> median{50 * kWholePercent};
  const ChannelStatistics two = statistics_of(counts_of({0, 255}, kNarrow), median);
  EXPECT_EQ(two.mean, 127.5);
  EXPECT_EQ(two.deviation, 127.5);
  EXPECT_EQ(two.unit_mean, 0.5);
  EXPECT_EQ(two.unit_deviation, 0.5);
  EXPECT_EQ(two.percentiles, std::vector<int>{0});
  const ChannelStatistics five = statistics_of(counts_of({2, 4, 4, 4, 5, 5, 7, 9}, kNarrow), median);
  EXPECT_EQ(five.mean, 5.0);
  EXPECT_EQ(five.deviation, 2.0);
  EXPECT_EQ(five.percentiles, std::vector<int>{4});
}

TEST(Statistics, NoSamplesGiveZeros) {
  for (const std::vector<std::uint64_t>& none :
       {std::vector<std::uint64_t>(), std::vector<std::uint64_t>(256)}) {
    const ChannelStatistics statistics = statistics_of(none, kPercents);
    EXPECT_EQ(statistics.samples, 0U);
    EXPECT_EQ(statistics.mean, 0.0);
    EXPECT_EQ(statistics.deviation, 0.0);
    EXPECT_EQ(statistics.percentiles, std::vector<int>(kPercents.size()));
  }
}

TEST(Statistics, AreExactForTheLargestCounts) {
  std::vector<std::uint64_t> counts(65536);
  counts.front() = counts.back() = kMaxSamples / 2;
  ChannelStatistics extreme = statistics_of(counts, kPercents);
  EXPECT_EQ(extreme.mean, 32767.5);
  EXPECT_EQ(extreme.deviation, 32767.5);
  EXPECT_EQ(extreme.unit_deviation, 0.5);
  EXPECT_EQ(extreme.percentiles[6], 0);
  EXPECT_EQ(extreme.percentiles[7], 65535);
  counts.front() = 0;
  counts.back() = kMaxSamples;
  extreme = statistics_of(counts, kPercents);
  EXPECT_EQ(extreme.mean, 65535.0);
  EXPECT_EQ(extreme.unit_mean, 1.0);
  EXPECT_EQ(extreme.deviation, 0.0);
}

SampleCounts counted(const Pixels& pixels) {
  SampleCounts counts(pixels.shape().channels, pixels.shape().sample);
  counts.count(pixels.view());
  return counts;
}

TEST(StatisticsCollector, SeparatesGreyColourAndAlpha) {
  StatisticsCollector collector;
  const Pixels grey({5, 7, 1}, 21);
  const Pixels grey_alpha({3, 2, 2}, 22);
  const Pixels color({11, 13, 3}, 23);
  const Pixels color_alpha({4, 4, 4}, 24);
  for (const Pixels* pixels : {&grey, &grey_alpha, &color, &color_alpha}) collector.add(counted(*pixels));
  ASSERT_EQ(collector.groups().size(), 2U);
  const ImageGroup& greys = collector.groups().at(false);
  EXPECT_EQ(greys.images, 2U);
  EXPECT_EQ(greys.pixels, 41U);
  EXPECT_EQ(greys.alpha.images, 1U);
  EXPECT_EQ(greys.alpha.samples, 6U);
  EXPECT_EQ(greys.counts(greys.alpha), counts_of(grey_alpha.sorted(1), kNarrow));
  std::vector<int> both = grey.sorted(0);
  for (const int value : grey_alpha.sorted(0)) both.push_back(value);
  EXPECT_EQ(greys.counts(greys.color[0]), counts_of(both, kNarrow));
  const ImageGroup& colors = collector.groups().at(true);
  ASSERT_EQ(colors.color.size(), 3U);
  EXPECT_EQ(colors.pixels, 159U);
  EXPECT_EQ(colors.color[2].samples, 159U);
  EXPECT_EQ(colors.alpha.samples, 16U);
  EXPECT_EQ(colors.counts(colors.alpha), counts_of(color_alpha.sorted(3), kNarrow));
}

TEST(StatisticsCollector, ScalesEightBitsToSixteen) {
  StatisticsCollector collector;
  const Pixels narrow({9, 9, 1, kNarrow}, 31);
  const Pixels wide({8, 7, 1, kWide}, 32);
  collector.add(counted(narrow));
  EXPECT_EQ(collector.groups().at(false).scale(), kNarrow);
  collector.add(counted(wide));
  const ImageGroup& group = collector.groups().at(false);
  EXPECT_EQ(group.scale(), kWide);
  EXPECT_EQ(group.wide_images, 1U);
  std::vector<int> values = wide.sorted(0);
  for (const int value : narrow.sorted(0)) values.push_back(value * 257);
  std::ranges::sort(values);
  EXPECT_EQ(group.counts(group.color[0]), counts_of(values, kWide));
  expect_statistics(statistics_of(group.counts(group.color[0]), kPercents), values, 65535, kPercents,
                    "mixed");
}

TEST(StatisticsCollector, RejectsMoreThanItCanCountExactly) {
  SampleCounts most(1, kNarrow);
  most.count(Pixels({1, 1, 1}, 41).view());
  for (std::uint64_t samples = 1; samples < kMaxSamples; samples *= 2) most.add(SampleCounts(most));
  StatisticsCollector collector;
  collector.add(most);
  EXPECT_THROW(collector.add(counted(Pixels({1, 1, 1}, 42))), Error);
  EXPECT_EQ(collector.groups().at(false).pixels, kMaxSamples);
  collector.add(counted(Pixels({1, 1, 3}, 43)));  // of another group
}

}  // namespace
}  // namespace imgpipe::test::stats_test

// Tests how a plan is cut into chains and bands: their memory, and rows that are computed repeatedly.
#include "pipeline/chains.h"

#include <string>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"

namespace imgpipe::test::chains_test {
namespace {

Plan plan_of(const std::string& stages, const Shape& shape) {
  return make_plan(parse_stages(stages), shape);
}

// Returns the largest number of bytes per band of any chain, for a plan from a reader to a file.
std::int64_t max_band_bytes(const std::string& stages, const Shape& shape, Format format) {
  const Plan plan = plan_of(stages, shape);
  const auto writer = make_writer(format, plan.output);
  const ChainedPlan chained(plan, true, {});
  std::int64_t most = 0;
  for (const Chain& chain : chained.chains) {
    const BandPlan bands(chained, chain, chain.last ? writer.get() : nullptr, 1);
    most = std::max(most, bands.band_bytes());
  }
  return most;
}

TEST(Chains, BandsFitIntoTheCache) {
  constexpr std::int64_t kKiB = 1024;
  EXPECT_EQ(band_bytes_for_cache(0), 512 * kKiB);  // unknown
  EXPECT_EQ(band_bytes_for_cache(-1), 512 * kKiB);
  EXPECT_EQ(band_bytes_for_cache(512 * kKiB), 256 * kKiB);
  EXPECT_EQ(band_bytes_for_cache(1280 * kKiB), 320 * kKiB);
  EXPECT_EQ(band_bytes_for_cache(2048 * kKiB), 512 * kKiB);
  EXPECT_EQ(band_bytes_for_cache(64 * 1024 * kKiB), 512 * kKiB);
  const Plan plan = plan_of("invert", {1024, 4096, 1});
  const ChainedPlan chained(plan, true, {});
  const auto writer = make_writer(Format::ppm, plan.output);
  for (const std::int64_t rows : {64, 512}) {
    use_band_bytes(rows * 1024);
    EXPECT_EQ(BandPlan(chained, chained.chains.back(), writer.get(), 1).rows(), rows);
  }
  use_band_bytes(0);
}

// Returns how often each row is computed on average, for the frame with the highest average.
double max_times_made(const std::string& stages, const Shape& shape, Format format) {
  const Plan plan = plan_of(stages, shape);
  const auto writer = make_writer(format, plan.output);
  const ChainedPlan chained(plan, true, {});
  double most = 0;
  for (const Chain& chain : chained.chains) {
    const BandPlan bands(chained, chain, chain.last ? writer.get() : nullptr, 2);
    std::vector<std::int64_t> made(chained.program.values.size());
    for (std::int64_t i = 0; i < bands.bands(); ++i) {
      const std::vector<RowRange> rows = bands.rows_of(bands.band(i));
      for (std::size_t b = 0; b < rows.size(); ++b) made[b] += rows[b].count();
    }
    for (std::size_t b = 1; b < made.size(); ++b) {
      const Value& value = chained.program.values[b];
      if (!chained.made_in(b, chain) || !value.is_image()) continue;
      most = std::max(most, static_cast<double>(made[b]) / static_cast<double>(value.type.height));
    }
  }
  return most;
}

TEST(Chains, MemoryDoesNotGrowWithTheList) {
  std::string list = "invert,gamma:2";
  for (int i = 0; i < 200; ++i) list += ",invert,gamma:2";
  const Shape shape{2000, 1500, 3};
  EXPECT_LE(max_band_bytes(list, shape, Format::ppm),
            max_band_bytes("invert,gamma:2,invert", shape, Format::ppm));
}

TEST(Chains, SmallResultOfALargeImageNeedsLittleMemory) {
  const Shape shape{12000, 8000, 3};
  for (const Format format : {Format::png, Format::ppm, Format::jpeg}) {
    EXPECT_LT(max_band_bytes("resize:64:43:area", shape, format), std::int64_t{24} << 20);
    EXPECT_LT(max_band_bytes("resize:1200:800:area", shape, format), std::int64_t{24} << 20);
  }
}

// The worst cases that the cuts allow. Four smooths compute 14 + 16 rows for a PNG strip of 14 (2.14 times).
// If a step that doubles the height lies between two smooths, a strip of 8 rows comes from 4 rows plus 4
// above and 4 below (3 times, except at the image's ends).
TEST(Chains, RowsAreRarelyRecomputed) {
  const Shape photo{12000, 8000, 3};
  const Shape wide{200000, 1, 4};
  for (const char* stages :
       {"gray,hist,contrast,smooth", "smooth,smooth,smooth,smooth", "resize:320:213:area,smooth",
        "resize:64:43:area,smooth,smooth,smooth,smooth", "resize:800:533,smooth,smooth",
        "smooth,resize:20000:16000,smooth", "gray,smooth,resize:300:200:nearest,hist,contrast"}) {
    for (const Format format : {Format::png, Format::ppm})
      EXPECT_LT(max_times_made(stages, photo, format), 3.1) << stages;
  }
  for (const char* stages :
       {"resize:1:20000:nearest,contrast", "resize:1:20000,threshold", "smooth,resize:3:20000"})
    EXPECT_LT(max_times_made(stages, wide, Format::png), 3.1) << stages;
}

}  // namespace
}  // namespace imgpipe::test::chains_test

// The tiles of resize by Pillow's filters on a CUDA device: no step reads beyond the arrays in shared memory.
#include "kernels/resize/filter_tiling.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "kernels/resize/filter_axis.h"

namespace imgpipe::test::filter_tiling_test {
namespace {

constexpr int kCases = 3000;
constexpr FilterSizes kBytes{4, 16, 12};  // as filter_step.cuh
constexpr FilterSizes kPairs{1, 8, 8};

using Random = std::mt19937_64;

std::int64_t any(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

FilterAxis any_axis(Random& random) {
  const std::int64_t in = any(random, 1, any(random, 0, 3) == 0 ? 6000 : 300);
  const std::int64_t out = any(random, 0, 5) == 0 ? in : any(random, 1, 300);
  if (any(random, 0, 1) == 0) return {in, out};
  const auto size = static_cast<float>(in);
  const auto share = [&] { return static_cast<float>(any(random, 0, 1000)) / 2100.0F; };
  return {in, out, share() * size, size - share() * size};
}

// Expects that all steps of outputs of tiles of `each` lie within `span` input samples from the tile's base
// on, and cover the outputs' taps.
void expect_inside(const FilterAxis& axis, Filter filter, std::int64_t each, std::int64_t span,
                   std::int64_t steps, int taps) {
  for (std::int64_t tile = 0; tile < axis.out; tile += each) {
    std::int64_t base = 0;
    for (std::int64_t i = tile; i < std::min(tile + each, axis.out); ++i) {
      const FilterTaps at =
          axis.changes() ? filter_taps(axis, filter, i) : FilterTaps{static_cast<std::int32_t>(i), 1};
      if (i == tile) base = at.first / kFilterLines * kFilterLines;
      const std::int64_t start = at.first - base;
      const std::int64_t end = (start / taps + steps) * taps;
      ASSERT_GE(start, 0) << "output " << i;
      ASSERT_LE(end, span) << "output " << i;
      ASSERT_LE(start + at.count, end) << "output " << i;
    }
  }
}

TEST(FilterTiling, StepsStayInsideSharedMemory) {
  Random random(34);
  int fitting = 0;
  for (int i = 0; i < kCases; ++i) {
    const Resampling resampling{any_axis(random), any_axis(random), static_cast<Filter>(any(random, 0, 4))};
    const FilterTables<std::int32_t> tables = filter_tables<std::int32_t>(resampling, nullptr);
    const FilterAxis& first = resampling.across;
    const FilterAxis& second = resampling.down;
    const FilterSizes& sizes = i % 2 == 0 ? kBytes : kPairs;
    const std::int64_t most = any(random, 8, 200) * 1024;
    const FilterWork work{{first.in, first.out, first.out, tables.across.window},
                          {second.in, second.out, second.out, tables.down.window},
                          sizes,
                          any(random, 1, 4),
                          132};
    const FilterTiling tiling = filter_tiling(work, most);
    SCOPED_TRACE(std::to_string(first.in) + "x" + std::to_string(second.in) + " to " +
                 std::to_string(first.out) + "x" + std::to_string(second.out) + ", case " +
                 std::to_string(i));
    if (!tiling.fits()) continue;
    ++fitting;
    ASSERT_LE(tiling.bytes, most);
    ASSERT_EQ(tiling.columns, kFilterColumnGroup << tiling.group_bits);
    ASSERT_EQ(tiling.middle_at, tiling.quads * tiling.pitch / sizes.taps * sizes.unit_bytes);
    const std::int64_t middle_units = (tiling.first_weights_at - tiling.middle_at) / sizes.unit_bytes;
    const std::int64_t middle_lines = middle_units * sizes.taps / tiling.columns * kFilterLines;
    ASSERT_EQ(middle_lines, tiling.middle_quads * kFilterLines);
    ASSERT_EQ(tiling.middle_quads % 2, 0);
    expect_inside(first, resampling.filter, tiling.columns, tiling.pitch, tiling.first_steps, sizes.taps);
    expect_inside(second, resampling.filter, tiling.rows, middle_lines, tiling.second_steps, sizes.taps);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(fitting, kCases / 2);
}

}  // namespace
}  // namespace imgpipe::test::filter_tiling_test

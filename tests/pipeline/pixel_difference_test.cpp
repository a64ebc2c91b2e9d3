#include "pipeline/pixel_difference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace imgpipe {
namespace {

TEST(WideSum, CarriesIntoTheHighHalf) {
  WideSum sum;
  for (int i = 0; i < 5; ++i) sum.add(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(sum.high, 4U);
  EXPECT_EQ(sum.low, std::numeric_limits<std::uint64_t>::max() - 4);
  EXPECT_EQ(sum.value(), 5 * std::ldexp(1.0, 64));
}

template <class T>
PixelDifference compared(const std::vector<T>& a, const std::vector<T>& b, const Shape& shape,
                         std::int64_t band) {
  const auto view = [&](const std::vector<T>& samples) {
    return ConstHostView(Plane<const T, Host>{samples.data(), shape.width, shape.height,
                                              shape.width * shape.channels, shape.channels});
  };
  PixelComparison comparison(shape);
  for (std::int64_t y = 0; y < shape.height; y += band) {
    const std::int64_t rows = std::min(band, shape.height - y);
    comparison.add(view(a).rows(y, rows), view(b).rows(y, rows));
  }
  return comparison.result();
}

TEST(PixelComparison, CountsPixelsAndFindsTheFirst) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Shape shape{1 + static_cast<std::int64_t>(random() % 9),
                      1 + static_cast<std::int64_t>(random() % 9), 1 + static_cast<int>(random() % 4),
                      Sample::u16};
    std::vector<std::uint16_t> a(static_cast<std::size_t>(shape.samples()));
    for (std::uint16_t& sample : a) sample = static_cast<std::uint16_t>(random());
    std::vector<std::uint16_t> b = a;
    for (std::size_t i = random() % 4; i > 0; --i)
      b[random() % b.size()] = static_cast<std::uint16_t>(random());
    std::int64_t pixels = 0, first = -1, largest = 0, squares = 0, last = -1;
    for (std::int64_t i = 0; i < shape.samples(); ++i) {
      const std::int64_t difference =
          std::abs(a[static_cast<std::size_t>(i)] - b[static_cast<std::size_t>(i)]);
      if (difference == 0) continue;
      if (first < 0) first = i;
      pixels += i / shape.channels != last ? 1 : 0;
      last = i / shape.channels;
      largest = std::max(largest, difference);
      squares += difference * difference;
    }
    const PixelDifference found = compared(a, b, shape, 1 + static_cast<std::int64_t>(random() % 4));
    EXPECT_EQ(found.pixels, pixels);
    EXPECT_EQ(found.largest, static_cast<double>(largest));
    ASSERT_EQ(found.first.has_value(), first >= 0);
    ASSERT_EQ(found.psnr_db.has_value(), squares > 0);
    if (first < 0) continue;
    EXPECT_EQ(found.first->y, first / (shape.width * shape.channels));
    EXPECT_EQ(found.first->x, first / shape.channels % shape.width);
    EXPECT_EQ(found.first->channel, first % shape.channels);
    EXPECT_DOUBLE_EQ(*found.psnr_db,
                     10 * std::log10(65535.0 * 65535.0 * static_cast<double>(shape.samples()) /
                                     static_cast<double>(squares)));
  }
}

TEST(PixelComparison, ComparesFloatsByTheirBits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Shape shape{3, 1, 1, Sample::f32};
  EXPECT_TRUE(compared<float>({nan, 0, 1}, {nan, 0, 1}, shape, 1).is_equal());
  const PixelDifference zeros = compared<float>({0, 0, 0}, {0, -0.0F, 0}, shape, 1);
  EXPECT_EQ(std::pair(zeros.pixels, zeros.largest), std::pair(std::int64_t{1}, 0.0));
  EXPECT_FALSE(zeros.psnr_db);
  const PixelDifference numbers = compared<float>({nan, 2, 5}, {1, 2, 4}, shape, 1);
  EXPECT_EQ(numbers.not_numbers, 1);
  EXPECT_EQ(numbers.largest, 1);
  EXPECT_FALSE(numbers.psnr_db);
}

}  // namespace
}  // namespace imgpipe

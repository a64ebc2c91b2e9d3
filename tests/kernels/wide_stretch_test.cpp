// Compares the stretch of 16-bit samples, an integer product (kernels/contrast/wide_stretch.h), with its
// formula: every distance for many spans, some distances for every span. The product for 8-bit samples on the
// host (kernels/contrast/stretch_factor.h): every distance for every span.
#include "kernels/contrast/wide_stretch.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "kernels/contrast/stretch_factor.h"

namespace imgpipe::test::wide_stretch_test {
namespace {

constexpr int kBins16 = 65536;

// Tests every distance of a span against the formula, whose quotient is updated without divisions.
template <class To>
void expect_stretch(int span) {
  const WideStretch stretch = wide_stretch<To, Sample16>(0, span);
  const std::int64_t step = 2 * std::int64_t{kLargest<To>};
  const std::int64_t divisor = 2 * std::int64_t{span};
  std::int64_t quotient = 0;
  std::int64_t rest = span;
  for (int d = 0; d <= span; ++d) {
    ASSERT_EQ(stretched_distance(stretch, static_cast<std::uint32_t>(d)), quotient) << span << " " << d;
    quotient += step / divisor;
    rest += step % divisor;
    if (rest >= divisor) {
      rest -= divisor;
      ++quotient;
    }
  }
}

TEST(ByteStretch, EveryDistanceForEverySpan) {
  for (int span = 1; span <= 255; ++span) {
    const ByteStretchFactor factor = byte_stretch_factor(255 - span, 255);
    ASSERT_EQ(factor.lo, 255 - span);
    ASSERT_EQ(factor.span, span);
    for (int d = 0; d <= span; ++d) {
      const unsigned e = static_cast<unsigned>(d) << (8 + factor.shift);
      ASSERT_LT(e, 65536U) << span;
      const unsigned sum = e + (e * factor.fraction >> 16) + 128;
      ASSERT_LT(sum, 65536U) << span << " " << d;
      ASSERT_EQ(sum >> 8, (stretched<Sample8, Sample8>(d, 0, span))) << span << " " << d;
    }
  }
}

TEST(WideStretch, EveryDistanceForManySpans) {
  for (int span = 1; span < kBins16; span += span < 2048 || span > 65400 ? 1 : 61) {
    expect_stretch<Sample16>(span);
    expect_stretch<Sample8>(span);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Tests both ends of every span and random distances in between. Testing the distances near every rounding
// boundary takes too long.
TEST(WideStretch, SomeDistancesForEverySpan) {
  std::mt19937 random(16);
  for (int span = 1; span < kBins16; ++span) {
    const WideStretch wide = wide_stretch<Sample16, Sample16>(0, span);
    const WideStretch narrow = wide_stretch<Sample8, Sample16>(0, span);
    for (int i = 0; i < 24; ++i) {
      const int d = i < 4   ? std::min(i, span)
                    : i < 8 ? std::max(0, span - i + 4)
                            : static_cast<int>(random() % static_cast<unsigned>(span + 1));
      const auto value = static_cast<std::uint32_t>(d);
      ASSERT_EQ(stretched_value(wide, value), (stretched<Sample16, Sample16>(d, 0, span)))
          << span << " " << d;
      ASSERT_EQ(stretched_value(narrow, value), (stretched<Sample8, Sample16>(d, 0, span)))
          << span << " " << d;
    }
  }
}

TEST(WideStretch, EveryEightBitRange) {
  for (int lo = 0; lo < 256; ++lo) {
    for (int hi = 0; hi < 256; ++hi) {
      const WideStretch stretch = wide_stretch<Sample16, Sample8>(lo, hi);
      for (int v = 0; v < 256; ++v)
        ASSERT_EQ(stretched_value(stretch, static_cast<std::uint32_t>(v)),
                  (stretched<Sample16, Sample8>(v, lo, hi)))
            << lo << " " << hi << " " << v;
    }
  }
}

// If hi <= lo, values are unchanged or only converted.
TEST(WideStretch, EveryValueWithoutARange) {
  const WideStretch same = wide_stretch<Sample16, Sample16>(9, 9);
  const WideStretch narrow = wide_stretch<Sample8, Sample16>(9, 3);
  for (std::uint32_t v = 0; v < kBins16; ++v) {
    ASSERT_EQ(stretched_value(same, v), v);
    ASSERT_EQ(stretched_value(narrow, v), converted<Sample8>(static_cast<Sample16>(v)));
  }
}

}  // namespace
}  // namespace imgpipe::test::wide_stretch_test

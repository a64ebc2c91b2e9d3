#include "kernels/shared/float_stretch.h"

#include <gtest/gtest.h>

#include "kernels/contrast/stretch_factor.h"
#include "kernels/shared/stretch.h"

namespace imgpipe::float_stretch_test {
namespace {

TEST(FloatStretch, EqualsTheContractForEveryRangeAndValue) {
  for (int lo = 0; lo <= kMaxSample; ++lo) {
    for (int hi = lo + 1; hi <= kMaxSample; ++hi) {
      const FloatStretch stretch = float_stretch(lo, hi - lo);
      for (int v = 0; v <= kMaxSample; ++v)
        ASSERT_EQ(float_stretched(stretch, v), stretched(v, lo, hi)) << lo << ' ' << hi << ' ' << v;
    }
  }
}

TEST(FloatStretch, KeepsValuesWithoutARange) {
  for (int v = 0; v <= kMaxSample; ++v) EXPECT_EQ(float_stretched(float_stretch(0, kMaxSample), v), v);
}

// Tests all values of a range with the product that the host's vector code computes in half words.
template <class To>
void expect_equal_products(int span) {
  const WideStretchFactor f = wide_stretch_factor<To>(0, span);
  const std::uint64_t whole = sizeof(To) > 1 ? std::uint64_t{1} << 32 : 0;
  const std::uint64_t factor = whole + (std::uint64_t{f.upper} << 16) + f.lower;
  for (int d = 0; d <= span; ++d) {
    const std::uint64_t product = (static_cast<std::uint64_t>(d) << f.shift) * factor;
    const auto got = static_cast<int>((product + (std::uint64_t{1} << 31) + f.rest) >> 32);
    if (got != stretched<To, Sample16>(d, 0, span)) {
      FAIL() << d << " of " << span << ": " << got << ", not " << stretched<To, Sample16>(d, 0, span);
    }
  }
}

TEST(StretchFactor, EqualsTheContractFor16Bits) {
  for (int span = 1; span <= kLargest<Sample16>; span += span < 2048 || span > 65300 ? 1 : 61) {
    expect_equal_products<Sample16>(span);
    expect_equal_products<Sample8>(span);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace imgpipe::float_stretch_test

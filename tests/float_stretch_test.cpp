#include "kernels/contrast/float_stretch.h"

#include <gtest/gtest.h>

#include "kernels/contrast/stretch.h"

namespace imgpipe {
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

TEST(FloatStretch, KeepsValuesWhereThereIsNoRange) {
  for (int v = 0; v <= kMaxSample; ++v) EXPECT_EQ(float_stretched(float_stretch(0, kMaxSample), v), v);
}

}  // namespace
}  // namespace imgpipe

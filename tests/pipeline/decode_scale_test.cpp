// The size that --decode-scale auto derives from the steps (rule scale1).
#include "pipeline/decode_scale.h"

#include <optional>
#include <string_view>

#include <gtest/gtest.h>

namespace imgpipe::test::decode_scale_test {
namespace {

std::optional<Shape> least_size(std::string_view list, const Shape& whole = {4000, 3000, 3}) {
  const auto function = least_decoded_size(parse_stages(list));
  return function ? function(whole) : std::nullopt;
}

TEST(DecodeScale, IsTheSizeOfTheFirstResize) {
  const Shape expected{1000, 750, 3};
  for (const std::string_view list :
       {"resize:1000x750", "gray,resize:1000x750", "gray,rgb,flatten,resize:width=1000",
        "resize:longest=1000", "resize:shortest=750", "resize:1000x900:area:inside",
        "resize:1000x750:box:cover,crop:10x10", "resize:height=750,resize:3000x3000"}) {
    const std::optional<Shape> got = least_size(list);
    ASSERT_TRUE(got) << list;
    EXPECT_EQ(got->width, expected.width) << list;
    EXPECT_EQ(got->height, expected.height) << list;
  }
  const std::optional<Shape> upright = least_size("resize:longest=1000", {3000, 4000, 3});
  ASSERT_TRUE(upright);
  EXPECT_EQ(upright->height, 1000);
}

TEST(DecodeScale, OtherStepsBeforeItNeedTheWholeImage) {
  for (const std::string_view list : {"none", "gray", "crop:100x100+1+1,resize:50x50", "hist,resize:50x50",
                                      "contrast,resize:50x50", "smooth,resize:50x50", "flip,resize:50x50",
                                      "rotate:90,resize:50x50", "pad:5000x5000:color=white,resize:50x50",
                                      "depth:16,resize:50x50", "channel:r,resize:50x50", "resize:25%"}) {
    EXPECT_EQ(least_size(list), std::nullopt) << list;
  }
}

}  // namespace
}  // namespace imgpipe::test::decode_scale_test

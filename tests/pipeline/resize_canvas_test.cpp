// Tests the plan of resize:fit=contain: the planner inserts the canvas.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/stage.h"
#include "pipeline/plan.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test::resize_canvas_test {
namespace {

constexpr Shape kRgb{8, 4, 3};

Plan plan_of(std::string_view stages, const Shape& input) {
  return make_plan(parse_stages(stages), input);
}

std::string labels(std::string_view stages, const Shape& input) {
  std::string text;
  for (const Step& step : plan_of(stages, input).steps) text += (text.empty() ? "" : " ") + step.label;
  return text;
}

TEST(ResizeCanvas, FollowsContain) {
  EXPECT_EQ(labels("resize:20x20:area:contain", kRgb),
            "split* resize:20:20:area:contain pad:20x20:transparent* merge*");
  EXPECT_EQ(labels("resize:20x20:fit=contain:background=red", {8, 4, 1}),
            "resize:20:20:fit=contain:background=red pad:20x20:red*");
  EXPECT_EQ(labels("resize:20x20:area:contain,smooth,resize:9x9:area:contain", {8, 4, 1}),
            "resize:20:20:area:contain pad:20x20:transparent* smooth resize#2:9:9:area:contain");
}

TEST(ResizeCanvas, IsInsertedOnlyIfItIsLarger) {
  EXPECT_EQ(labels("resize:20x10:area:contain", {8, 4, 1}), "resize:20:10:area:contain");
  EXPECT_EQ(labels("resize:8x4:area:contain", {8, 4, 1}), "");
  EXPECT_EQ(labels("resize:8x8:area:contain", {8, 4, 1}), "pad:8x8:transparent*");
  EXPECT_EQ(plan_of("resize:8x8:area:contain", kRgb).notes,
            (std::vector<std::string>{"skipped resize:8:8:area:contain: the image already fits the canvas"}));
  for (const char* const fit : {"exact", "inside", "cover"})
    EXPECT_EQ(labels("resize:9x9:bicubic:" + std::string(fit), {8, 4, 1}).find("pad"), std::string::npos);
}

TEST(ResizeCanvas, HasTheRequestedSizeForEveryImage) {
  Random random(26);
  for (int i = 0; i < 2000; ++i) {
    const Shape input{1 + below(random, 300), 1 + below(random, 300), static_cast<int>(1 + below(random, 4)),
                      below(random, 2) == 0 ? Sample::u8 : Sample::u16};
    const std::int64_t width = 1 + below(random, 300);
    const std::int64_t height = 1 + below(random, 300);
    const std::string size = std::to_string(width) + "x" + std::to_string(height);
    const Plan plan = plan_of("resize:" + size + ":nearest:contain:background=#01020304", input);
    ASSERT_TRUE(plan.output.width == width && plan.output.height == height)
        << input.width << "x" << input.height << " in " << size;
    for (const Operation& step : plan.operations) {
      if (step.stage->name != "pad") continue;
      ASSERT_EQ(step.label, "pad:" + size + ":#01020304*");
      ASSERT_EQ(step.parameters, parse_stages("pad:" + size + ":#01020304").front().parameters);
    }
  }
}

TEST(ResizeCanvas, IsSharedByResults) {
  const std::vector<std::string_view> lists{"resize:9x9:area:contain,invert", "resize:9x9:area:contain"};
  const Plan plan = make_branched_plan(lists, {8, 4, 1});
  ASSERT_EQ(plan.operations.size(), 3U);
  EXPECT_EQ(plan.operations[1].label, "pad:9x9:transparent*");
  EXPECT_EQ(plan.results[1], 1U);
}

}  // namespace
}  // namespace imgpipe::test::resize_canvas_test

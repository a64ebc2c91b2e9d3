// What plans make of samples of 16 bits.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/graph.h"
#include "pipeline/plan.h"
#include "tests/support/golden.h"

namespace imgpipe::test::plan_samples_test {
namespace {

constexpr Shape kGrey{8, 4, 1};
constexpr Shape kRgb{8, 4, 3};
constexpr Shape kRgba{8, 4, 4};
constexpr Shape kDeepRgba{8, 4, 4, Sample::u16};

TEST(Plan, SamplesOf16BitsStayUnlessAStepMakesOthers) {
  const auto output = [](std::string_view stages, const Shape& input) {
    return make_plan(parse_stages(stages), input).output.sample;
  };
  EXPECT_EQ(output("gray,hist,contrast,smooth", kDeepRgba), Sample::u16);
  EXPECT_EQ(output("depth:8", kDeepRgba), Sample::u8);
  EXPECT_EQ(output("smooth,contrast:to=8,invert", kDeepRgba), Sample::u8);
  EXPECT_EQ(output("contrast:to=16", kRgba), Sample::u16);
  EXPECT_EQ(output("depth:16,gamma:2,depth:8", kRgba), Sample::u8);
}

TEST(Plan, EveryStageRefusesFloats) {
  const Shape floats{8, 4, 3, Sample::f32};
  for (const Stage& stage : stage_table()) {
    const std::vector<StageRequest> stages{{&stage, presets(stage.parameters), ""}};
    try {
      (void)make_plan(stages, floats);
      ADD_FAILURE() << stage.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), std::string(stage.name) + " takes no images of 32 bits a sample");
    }
  }
  EXPECT_THROW((void)make_plan({}, floats), Error);
}

// Alpha goes past contrast, but for one that makes samples of another type.
TEST(Plan, AlphaIsConvertedWithTheColour) {
  const auto uses_alpha = [](std::string_view stages) {
    const Plan plan = make_plan(parse_stages(stages), kDeepRgba);
    for (const Node& node : lower(plan, kCpuTarget).nodes) {
      if (node.stage->name == "contrast") return node.pixels_in().alpha && node.pixels_out()->alpha;
    }
    return false;
  };
  EXPECT_FALSE(uses_alpha("contrast"));
  EXPECT_FALSE(uses_alpha("contrast:to=16"));
  EXPECT_TRUE(uses_alpha("contrast:to=8"));
}

TEST(Plan, FusesNoStepsOfOtherSamples) {
  const auto fused = [](std::string_view stages, const Shape& input) {
    return make_plan(parse_stages(stages), input, true).steps.front().parts.size();
  };
  const Shape deep_grey{8, 4, 1, Sample::u16};
  EXPECT_EQ(fused("hist,contrast,smooth", deep_grey), 0U);
  const Plan to_16 = make_plan(parse_stages("hist,contrast:to=16,smooth"), kGrey, true);
  EXPECT_EQ(to_16.steps.size(), 3U);
  const Plan same = make_plan(parse_stages("hist,contrast,smooth"), kGrey, true);
  EXPECT_EQ(same.steps.size(), 2U);
}

TEST(Plan, RefusesThresholdsThatSamplesCannotHave) {
  try {
    (void)make_plan(parse_stages("threshold:256"), kRgb);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("its samples have 8 bits; use 0 to 255, or depth:16 before it"),
              std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW((void)make_plan(parse_stages("threshold:255"), kRgb));
  EXPECT_NO_THROW((void)make_plan(parse_stages("threshold:256"), kDeepRgba));
}

bool takes(const Stage& stage, Sample sample) {
  return std::ranges::find(stage.kernels, sample, &Kernel::in) != stage.kernels.end();
}

// No stage may take samples of 16 bits for bytes.
TEST(Plan, RefusesSamplesThatAStageHasNoFunctionsFor) {
  const Shape deep{8, 4, 3, Sample::u16};
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable || takes(stage, Sample::u16)) continue;
    try {
      (void)make_plan(parse_stages(golden_cases(stage.name).at(0)), deep);
      ADD_FAILURE() << stage.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::plan_samples_test

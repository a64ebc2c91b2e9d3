#include "pipeline/plan.h"

#include <set>

#include <gtest/gtest.h>

#include "images/error.h"

namespace imgpipe::test {
namespace {

std::string labels(std::string_view stages, const Shape& input) {
  std::string text;
  for (const Step& step : make_plan(parse_stages(stages), input, {}).steps)
    text += (text.empty() ? "" : " ") + step.label;
  return text;
}

constexpr Shape kGrey{8, 4, 1};
constexpr Shape kGreyAlpha{8, 4, 2};
constexpr Shape kRgb{8, 4, 3};
constexpr Shape kRgba{8, 4, 4};

TEST(Plan, TheDefaultIsTheTable) {
  EXPECT_EQ(default_stages(), "gray,hist,contrast,smooth");
  EXPECT_EQ(labels(default_stages(), kRgb), "gray hist contrast smooth");
}

TEST(Plan, ContrastGetsTheHistogramThatItLacks) {
  EXPECT_EQ(labels("gray,contrast", kRgb), "gray hist* contrast");
  EXPECT_EQ(labels("hist,smooth,contrast", kGrey), "hist smooth hist#2* contrast");
  EXPECT_EQ(labels("contrast,contrast", kGrey), "hist* contrast hist#2* contrast#2");
  EXPECT_EQ(labels("hist,hist,contrast", kGrey), "hist hist#2 contrast");
}

TEST(Plan, GrayOnGreyCostsNothing) {
  EXPECT_EQ(labels("gray", kGrey), "");
  EXPECT_EQ(labels("gray,gray", kRgb), "gray");
  EXPECT_EQ(labels("hist,gray,contrast", kGrey), "hist contrast") << "hist stands right before contrast";
  EXPECT_EQ(make_plan(parse_stages("gray"), kGrey, {}).notes.size(), 1U);
  EXPECT_EQ(labels("gray", kGreyAlpha), "");
}

TEST(Plan, ColourStaysColourPlaneByPlane) {
  EXPECT_EQ(labels("smooth", kRgb), "split* smooth merge*");
  EXPECT_EQ(labels("contrast,smooth", kRgb), "split* hist* contrast smooth merge*");
  EXPECT_EQ(labels("smooth,gray", kRgb), "split* smooth merge* gray");
  EXPECT_EQ(labels("smooth,gray,smooth", kRgb), "split* smooth merge* gray smooth#2");
}

TEST(Plan, AlphaIsCarried) {
  EXPECT_EQ(labels("gray", kRgba), "gray merge*");
  EXPECT_EQ(labels("smooth", kGreyAlpha), "split* smooth merge*");
  for (const char* stages : {"gray", "hist", "contrast", "smooth", "gray,hist,contrast,smooth"}) {
    EXPECT_TRUE(planned_output(parse_stages(stages), kRgba).has_alpha()) << stages;
    EXPECT_TRUE(planned_output(parse_stages(stages), kGreyAlpha).has_alpha()) << stages;
    EXPECT_FALSE(planned_output(parse_stages(stages), kRgb).has_alpha()) << stages;
  }
  EXPECT_EQ(planned_output(parse_stages("gray"), kRgba), kGreyAlpha);
}

// Whatever the list, each step takes what the one before gave, and its stage can read it.
TEST(Plan, ShapesFollowForEveryListOfFour) {
  std::vector<const Stage*> selectable;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) selectable.push_back(&stage);
  }
  ASSERT_EQ(selectable.size(), 4U);
  for (std::size_t code = 0; code < 256; ++code) {
    const std::vector<const Stage*> list{selectable[code & 3], selectable[code >> 2 & 3],
                                         selectable[code >> 4 & 3], selectable[code >> 6]};
    for (const Shape& input : {kGrey, kGreyAlpha, kRgb, kRgba}) {
      const Plan plan = make_plan(list, input, {});
      FrameType frame = frame_type_of(input);
      std::set<std::string> seen;
      for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const Step& step = plan.steps[i];
        EXPECT_EQ(step.in, frame);
        EXPECT_TRUE(step.in.layout == step.stage->in || step.in.channels() == 1);
        EXPECT_FALSE(step.stage->grey_only && step.in.color_channels == 1);
        if (step.stage->reads_histogram) {
          EXPECT_TRUE(i > 0 && writes_histogram(plan.steps[i - 1].stage->writes));
        }
        EXPECT_TRUE(seen.insert(step.label).second) << step.label << " twice";
        frame = step.out;
      }
      EXPECT_EQ(plan.output.channels, frame.channels());
      EXPECT_TRUE(frame.layout == Layout::interleaved || frame.channels() == 1);
    }
  }
}

TEST(Plan, FusesNeighboursOnRequest) {
  const auto fused = [](std::string_view stages, const Shape& input) {
    std::string text;
    for (const Step& step : make_plan(parse_stages(stages), input, {}, true).steps)
      text += (text.empty() ? "" : " ") + step.label;
    return text;
  };
  EXPECT_EQ(fused("gray,hist,contrast,smooth", kRgb), "gray+hist contrast+smooth");
  EXPECT_EQ(fused("gray,contrast,smooth", kRgba), "gray+hist* contrast+smooth merge*");
  EXPECT_EQ(fused("hist,contrast,smooth,smooth", kGrey), "hist contrast+smooth smooth#2");
  EXPECT_EQ(fused("contrast,smooth", kRgb), "split* hist* contrast+smooth merge*");
  EXPECT_EQ(fused("gray,smooth", kRgb), "gray smooth");
  const Plan plan = make_plan(parse_stages("gray,hist,contrast,smooth"), kRgb, {}, true);
  ASSERT_EQ(plan.steps[0].parts.size(), 2U);
  EXPECT_EQ(plan.steps[0].in, plan.steps[0].parts[0].in);
  EXPECT_EQ(plan.steps[1].out, plan.steps[1].parts[1].out);
}

TEST(Plan, RefusesWhatIsNoStage) {
  for (const char* text : {"", ",", "gray,", ",gray", "gray,,hist", "grey", "GRAY", " gray", "split", "merge",
                           "gray hist", "hist*"}) {
    try {
      (void)parse_stages(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("gray, hist, contrast, smooth"), std::string::npos);
    }
  }
}

TEST(Plan, BytesMovedCountEachSampleOnce) {
  const FrameType rgba = frame_type_of(kRgba);
  const Stage& gray = *find_stage("gray");
  EXPECT_EQ(bytes_moved(gray, rgba, output_type(gray, rgba)), 32 * (4 + 2));
  const FrameType planar{8, 4, 3, true, Layout::planar};
  EXPECT_EQ(bytes_moved(*find_stage("hist"), planar, planar), 32 * 3);
  EXPECT_EQ(bytes_moved(*find_stage("smooth"), planar, planar), 32 * 6);
  EXPECT_EQ(bytes_moved(*find_stage("split"), rgba, planar), 32 * 8);
}

}  // namespace
}  // namespace imgpipe::test

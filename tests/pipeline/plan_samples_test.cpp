// Tests plans with 16-bit and float samples.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "pipeline/graph.h"
#include "pipeline/plan.h"
#include "tests/support/golden.h"
#include "tests/support/images.h"

namespace imgpipe::test::plan_samples_test {
namespace {

constexpr Shape kGrey{8, 4, 1};
constexpr Shape kRgb{8, 4, 3};
constexpr Shape kRgba{8, 4, 4};
constexpr Shape kDeepRgba{8, 4, 4, Sample::u16};

bool takes(const Stage& stage, Sample sample) {
  return std::ranges::find(stage.kernels, sample, &Kernel::in) != stage.kernels.end();
}

TEST(Plan, SixteenBitsArePreservedUnlessAStepConverts) {
  const auto output = [](std::string_view stages, const Shape& input) {
    return make_plan(parse_stages(stages), input).output.sample;
  };
  EXPECT_EQ(output("gray,hist,contrast,smooth", kDeepRgba), Sample::u16);
  EXPECT_EQ(output("depth:8", kDeepRgba), Sample::u8);
  EXPECT_EQ(output("smooth,contrast:to=8,invert", kDeepRgba), Sample::u8);
  EXPECT_EQ(output("contrast:to=16", kRgba), Sample::u16);
  EXPECT_EQ(output("depth:16,gamma:2,depth:8", kRgba), Sample::u8);
}

std::string labels_of(const Plan& plan) {
  std::string labels;
  for (const Step& step : plan.steps) labels += (labels.empty() ? "" : ",") + step.label;
  return labels;
}

std::string refusal_of(std::span<const StageRequest> stages, const Shape& input) {
  try {
    return "planned: " + labels_of(make_plan(stages, input));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
}

TEST(Plan, StagesAcceptFloatsOrNameTheDepthToInsert) {
  const Shape floats{8, 4, 3, Sample::f32};
  for (const Stage& stage : stage_table()) {
    const std::vector<StageRequest> stages{{&stage, presets(stage.parameters), ""}};
    if (takes(stage, Sample::f32)) continue;
    EXPECT_EQ(refusal_of(stages, floats), std::string(stage.name) +
                                              " does not accept float samples; insert depth:8 or depth:16 "
                                              "before it");
  }
  for (const char* const stages : {"invert", "gamma:2", "levels:10:200:8", "smooth", "resize:3:2", "depth:8",
                                   "depth:16", "crop:2x2", "flip", "rotate:90", "none"}) {
    EXPECT_NO_THROW((void)make_plan(parse_stages(stages), floats)) << stages;
  }
  EXPECT_EQ(make_plan({}, floats).output, floats);
  EXPECT_EQ(refusal_of(parse_stages("depth:float,gamma:2,contrast:1"), kRgb),
            "contrast:1 does not accept float samples; insert depth:8 or depth:16 before it");
}

TEST(Plan, IntegersBecomeFloatsOnlyOnRequest) {
  EXPECT_EQ(labels_of(make_plan(parse_stages("depth:float,smooth,depth:8"), kRgba)),
            "depth:float,split*,smooth,depth#2:8,merge*");
  EXPECT_EQ(make_plan(parse_stages("depth:float"), {8, 4, 3, Sample::f32}).notes,
            std::vector<std::string>{"skipped depth:float: the samples are already floats"});
  EXPECT_EQ(make_plan(parse_stages("depth:8"), kRgb).steps.size(), 0U);
  // Floats are not converted to integers implicitly: files cannot store them, and writers reject them.
  const Plan floats = make_plan(parse_stages("depth:float"), kRgb, false, 1 << 20, 8);
  EXPECT_FALSE(floats.reduced);
  EXPECT_EQ(floats.output.sample, Sample::f32);
  EXPECT_EQ(make_plan(parse_stages("levels:0:1"), {8, 4, 3, Sample::f32}).steps.size(), 1U);
}

void doubled(const StageCall<Host>& call) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const auto in = call.in.plane<float>(static_cast<std::size_t>(c));
    const auto out = call.out.plane<float>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = 2 * in.row(y)[x];
    }
  }
}

// For a stage that accepts only floats, integers are converted first, because floats represent them exactly.
TEST(Plan, FloatStageReceivesFloats) {
  static constexpr std::array kernels{
      Kernel{.backend = Backend::reference, .in = Sample::f32, .out = Sample::f32, .reference = doubled}};
  const Stage twice{.name = "twice", .summary = "", .kernels = kernels};
  std::vector<StageRequest> stages{{&twice, {}, ""}};
  EXPECT_EQ(labels_of(make_plan(stages, kGrey)), "depth:float*,twice");
  EXPECT_EQ(labels_of(make_plan(stages, kDeepRgba)), "depth:float*,split*,twice,merge*");
  EXPECT_EQ(labels_of(make_plan(stages, {8, 4, 1, Sample::f32})), "twice");
  const Image image = noise_image(kDeepRgba, 7);
  Job job;
  job.plan = make_plan(stages, image.shape());
  job.reader = make_memory_reader(image.untyped_view());
  const Outcome outcome = make_reference_engine()->run(std::move(job));
  ASSERT_FALSE(outcome.error);
  const auto in = image.untyped_view().as<Sample16>();
  const auto out = outcome.pixels.as<float>();
  for (std::int64_t i = 0; i < kDeepRgba.samples(); ++i)
    ASSERT_EQ(out.data[i], static_cast<float>(in.data[i]) / 65535.0F * (i % 4 < 3 ? 2.0F : 1.0F));
}

// No conversion is inserted that would lose precision.
TEST(Plan, ByteStageErrorNamesTheDepthToInsert) {
  static constexpr std::array kernels{Kernel{.backend = Backend::reference, .reference = doubled}};
  const Stage bytes{.name = "bytes", .summary = "", .kernels = kernels};
  const std::vector<StageRequest> stages{{&bytes, {}, ":1"}};
  EXPECT_EQ(refusal_of(stages, kDeepRgba),
            "bytes:1 does not accept 16-bit samples; insert depth:8 before it");
  EXPECT_EQ(refusal_of(stages, {8, 4, 1, Sample::f32}),
            "bytes:1 does not accept float samples; insert depth:8 before it");
}

// Alpha bypasses contrast unless contrast changes the sample type.
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

TEST(Plan, FusesOnlyStepsOfTheSameSampleType) {
  const auto fused = [](std::string_view stages, const Shape& input) {
    return make_plan(parse_stages(stages), input, true).parts(0).size();
  };
  const Shape deep_grey{8, 4, 1, Sample::u16};
  EXPECT_EQ(fused("hist,contrast,smooth", deep_grey), 1U);
  const Plan to_16 = make_plan(parse_stages("hist,contrast:to=16,smooth"), kGrey, true);
  EXPECT_EQ(to_16.steps.size(), 3U);
  const Plan same = make_plan(parse_stages("hist,contrast,smooth"), kGrey, true);
  EXPECT_EQ(same.steps.size(), 2U);
}

TEST(Plan, RejectsThresholdsOutsideTheSampleRange) {
  try {
    (void)make_plan(parse_stages("threshold:256"), kRgb);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(
        std::string(error.what()).find("the samples have 8 bits; use 0 to 255, or insert depth:16 before it"),
        std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW((void)make_plan(parse_stages("threshold:255"), kRgb));
  EXPECT_NO_THROW((void)make_plan(parse_stages("threshold:256"), kDeepRgba));
}

// No stage may treat 16-bit samples as bytes.
TEST(Plan, RejectsUnsupportedSampleTypes) {
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

#include "pipeline/plan.h"

#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/device.h"
#include "tests/support/golden.h"
#include "tests/support/second_images.h"

namespace imgpipe::test::plan_test {
namespace {

std::string labels(std::string_view stages, const Shape& input) {
  std::string text;
  for (const Step& step : make_plan(steps_for(stages, input), input).steps)
    text += (text.empty() ? "" : " ") + step.label;
  return text;
}

constexpr Shape kGrey{8, 4, 1};
constexpr Shape kGreyAlpha{8, 4, 2};
constexpr Shape kRgb{8, 4, 3};
constexpr Shape kRgba{8, 4, 4};

// New stages do not change the default.
TEST(Plan, DefaultListIsConstant) {
  EXPECT_EQ(kDefaultStages, "gray,hist,contrast,smooth");
  EXPECT_EQ(labels(kDefaultStages, kRgb), "gray hist contrast smooth");
}

TEST(Plan, ContrastReceivesAMissingHistogram) {
  EXPECT_EQ(labels("gray,contrast", kRgb), "gray hist* contrast");
  EXPECT_EQ(labels("hist,smooth,contrast", kGrey), "hist smooth hist#2* contrast");
  EXPECT_EQ(labels("contrast,contrast", kGrey), "hist* contrast hist#2* contrast#2");
  EXPECT_EQ(labels("hist,hist,contrast", kGrey), "hist hist#2 contrast");
}

TEST(Plan, GrayOnGreyIsLeftOut) {
  EXPECT_EQ(labels("gray", kGrey), "");
  EXPECT_EQ(labels("gray,gray", kRgb), "gray");
  EXPECT_EQ(labels("hist,gray,contrast", kGrey), "hist contrast") << "hist stands right before contrast";
  EXPECT_EQ(make_plan(parse_stages("gray"), kGrey).notes.size(), 1U);
  EXPECT_EQ(labels("gray", kGreyAlpha), "");
}

TEST(Plan, ColourIsProcessedByPlane) {
  EXPECT_EQ(labels("smooth", kRgb), "split* smooth merge*");
  EXPECT_EQ(labels("contrast:stretch=each,smooth", kRgb), "split* hist* contrast:stretch=each smooth merge*");
  EXPECT_EQ(labels("smooth,gray", kRgb), "split* smooth merge* gray");
  EXPECT_EQ(labels("smooth,gray,smooth", kRgb), "split* smooth merge* gray smooth#2");
}

TEST(Plan, AlphaIsPreserved) {
  EXPECT_EQ(labels("gray", kRgba), "gray merge*");
  EXPECT_EQ(labels("smooth", kGreyAlpha), "split* smooth merge*");
  for (const char* stages : {"gray", "hist", "contrast", "smooth", "gray,hist,contrast,smooth"}) {
    EXPECT_TRUE(make_plan(parse_stages(stages), kRgba).output.has_alpha()) << stages;
    EXPECT_TRUE(make_plan(parse_stages(stages), kGreyAlpha).output.has_alpha()) << stages;
    EXPECT_FALSE(make_plan(parse_stages(stages), kRgb).output.has_alpha()) << stages;
  }
  EXPECT_EQ(make_plan(parse_stages("gray"), kRgba).output, kGreyAlpha);
}

constexpr Shape wide(Shape shape) {
  shape.sample = Sample::u16;
  return shape;
}

// The output format holds only 8 bits.
TEST(Plan, EndsInEightBitsIfTheFormatRequiresIt) {
  const auto ended = [](std::string_view stages, const Shape& input, int max_bits = 8) {
    const Plan plan = make_plan(parse_stages(stages), input, false, 1000, max_bits);
    std::string text;
    for (const Step& step : plan.steps) text += (text.empty() ? "" : " ") + step.label;
    const bool implicit = text.find("depth:8*") != std::string::npos || text.find(":8*") != std::string::npos;
    EXPECT_EQ(plan.reduced, implicit) << text;
    EXPECT_EQ(plan.output.sample, max_bits == 8 ? Sample::u8 : plan.output.sample);
    return text;
  };
  EXPECT_EQ(ended("contrast", wide(kGrey)), "hist* contrast depth:8*");
  EXPECT_EQ(ended("contrast", kGrey), "hist* contrast");
  EXPECT_EQ(ended("contrast", wide(kGrey), 16), "hist* contrast");
  EXPECT_EQ(ended("hist", wide(kGrey)), "hist depth:8*");
  EXPECT_EQ(ended("contrast:to=8", wide(kGrey)), "hist* contrast:to=8");
  EXPECT_EQ(ended("smooth,depth:8", wide(kGrey)), "smooth depth:8");
  EXPECT_EQ(ended("depth:8,depth:16", wide(kGrey)), "depth:8 depth#2:16 depth#3:8*");
  EXPECT_EQ(ended("depth:16", kGrey), "depth:16 depth#2:8*");
  for (const Shape& shape : {wide(kRgb), wide(kRgba), wide(kGreyAlpha)}) {
    const Plan plan = make_plan(parse_stages("smooth"), shape, false, 1000, 8);
    EXPECT_EQ(plan.output, (Shape{8, 4, shape.channels}));
    EXPECT_TRUE(plan.reduced);
  }
  EXPECT_EQ(make_plan(parse_stages("smooth"), wide(kRgba)).output, wide(kRgba));
}

// why_not_on_cuda() names the first stage without a 16-bit CUDA kernel; all stages have one for 8 bits.
TEST(Plan, StepsWithoutCudaAreFound) {
  EXPECT_EQ(why_not_on_cuda(make_plan(parse_stages("gray,hist,contrast,smooth"), kRgb)), "");
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    const Shape input = wide(stage.name == "colormap" ? kGrey : kRgb);
    const Plan plan = make_plan(steps_for(golden_cases(stage.name).at(0), input), input);
    std::string_view lacking;
    for (const Operation& one : plan.operations) {
      const bool has = find_kernel(*one.stage, Backend::cuda, one.in.sample, one.out.sample) != nullptr;
      if (!has && lacking.empty()) lacking = one.stage->name;
    }
    const std::string reason = why_not_on_cuda(plan);
    EXPECT_EQ(reason.substr(0, reason.find(' ')), built_with_cuda() ? lacking : "") << stage.name;
  }
}

// Returns every selectable stage that makes images and takes all numbers of channels, each with the first of
// its golden cases.
std::vector<StageRequest> selectable_steps() {
  std::vector<StageRequest> steps;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable && stage.tensor == nullptr && stage.name != "colormap" && stage.name != "append")
      steps.push_back(parse_stages(golden_cases(stage.name).at(0)).at(0));
  }
  return steps;
}

void expect_types_follow(const std::vector<StageRequest>& list, const Shape& input) {
  const Plan plan = make_plan(steps_for(list, input), input);
  FrameType type = frame_type_of(input);
  std::set<std::string> seen;
  std::optional<std::size_t> counted_by;
  for (std::size_t i = 0; i < plan.operations.size(); ++i) {
    const Operation& step = plan.operations[i];
    EXPECT_EQ(step.in, type);
    const Layout layout = step.stage->ports.in.front().layout.value_or(step.in.layout);
    EXPECT_TRUE(step.in.layout == layout || step.in.channels() == 1 ||
                is_one_plane(*step.stage, step.in, step.parameters));
    EXPECT_TRUE(step.stage->skip_reason == nullptr ||
                step.stage->skip_reason(step.in, step.parameters).empty());
    if (reads_counts(*step.stage, step.parameters)) {
      EXPECT_TRUE(counted_by) << step.label;
      EXPECT_EQ(step.counted_by, counted_by) << step.label;
    }
    if (makes_pixels(*step.stage)) counted_by.reset();
    if (makes_counts(*step.stage)) counted_by = i;
    EXPECT_TRUE(seen.insert(step.label).second) << step.label << " twice";
    type = step.out;
  }
  EXPECT_EQ(plan.output, shape_of(type));
  EXPECT_TRUE(type.layout == Layout::interleaved || type.channels() == 1);
}

// In every list, each step receives the previous step's output, and its stage can read it.
TEST(Plan, TypesFollowInEveryListOfThree) {
  const std::vector<StageRequest> steps = selectable_steps();
  const Shape inputs[] = {kGrey, kGreyAlpha, kRgb, kRgba};
  std::mt19937 random(1);
  for (const StageRequest& first : steps) {
    for (const StageRequest& second : steps) {
      for (const StageRequest& third : steps)
        expect_types_follow({first, second, third}, inputs[random() % 4]);
    }
  }
}

// Stages that move whole pixels accept any layout, also between other stages.
TEST(Plan, MovedPixelsKeepTheirLayout) {
  EXPECT_EQ(labels("rotate:90,flip,crop:2x2", kRgba), "rotate:90 flip crop:2x2");
  EXPECT_EQ(labels("crop:2x2,smooth,rotate:90,contrast", kRgb),
            "crop:2x2 split* smooth rotate:90 hist* contrast merge*");
  EXPECT_EQ(labels("gray,flip:vertical", kRgba), "gray flip:vertical merge*");
  EXPECT_EQ(labels("hist,flip,contrast", kGrey), "hist flip hist#2* contrast");
  EXPECT_EQ(make_plan(parse_stages("rotate:270"), kRgba).output, (Shape{4, 8, 4}));
  EXPECT_EQ(make_plan(parse_stages("rotate:180"), kGreyAlpha).output, kGreyAlpha);
  EXPECT_EQ(make_plan(parse_stages("crop:3x2+5+2"), kRgb).output, (Shape{3, 2, 3}));
}

// Stages that map all samples alike process interleaved pixels unless there is alpha, which must bypass them.
TEST(Plan, MappedSamplesStayInterleaved) {
  for (const char* step : {"invert", "gamma:2.2", "levels:9:99", "threshold:9", "posterize:3",
                           "brightness:1.5", "add:3", "max:9"}) {
    SCOPED_TRACE(step);
    EXPECT_EQ(labels(step, kRgb), step);
    EXPECT_EQ(labels(step, wide(kRgb)), step);
    EXPECT_EQ(labels(step, kGrey), step);
    for (const Shape& shape : {kRgba, kGreyAlpha})
      EXPECT_EQ(labels(step, shape), "split* " + std::string(step) + " merge*");
  }
  EXPECT_EQ(labels("flip,invert,depth:16,gray", kRgb), "flip invert depth:16 gray");
  EXPECT_EQ(labels("invert,smooth,gamma:2,crop:2x2,threshold:9", kRgb),
            "invert split* smooth gamma:2 crop:2x2 threshold:9 merge*");
  EXPECT_EQ(labels("threshold:otsu", kRgb), "split* hist* threshold merge*");
  EXPECT_EQ(labels("whitebalance:1:2:3", kRgb), "split* whitebalance:1:2:3 merge*");
  EXPECT_EQ(labels("add:same", kRgb), "split* add:same merge*");
}

std::string refusal(std::string_view stages, const Shape& input) {
  try {
    (void)make_plan(parse_stages(stages), input);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(Plan, RejectsInvalidRectangles) {
  for (const char* text :
       {"640x", "x480", "640x480+1", "640x480+1+", "640x480+1+2+3", "640x480-1-1", "640X480", "640x480x1",
        "640x480+-1+0", " 640x480", "640*480", "+1+2", "foo", "center"}) {
    EXPECT_EQ(
        refusal(std::string("crop:") + text, kRgb),
        "--stages: crop: expected WxH or WxH+X+Y, such as 640x480+10+20, got '" + std::string(text) + "'");
  }
  for (const char* text : {"crop", "crop:640", "crop:height=4", "crop:x=1:y=2"}) {
    EXPECT_EQ(refusal(text, kRgb),
              "--stages: crop: missing rectangle; expected WxH or WxH+X+Y, such as 640x480+10+20");
  }
  EXPECT_EQ(refusal("crop:0x4", kRgb), "--stages: crop: width: expected 1 to 2147483647, got '0'");
  EXPECT_EQ(refusal("crop:4x4+0+99999999999999999999", kRgb),
            "--stages: crop: y: expected 0 to 2147483647, or center, got '99999999999999999999'");
  EXPECT_EQ(refusal("crop:4x4:width=4", kRgb), "--stages: crop: width: given twice");
  EXPECT_EQ(refusal("crop:4x4+0+0:1", kRgb),
            "--stages: crop: rule: must be one of transformers, torchvision; got '1'");
  EXPECT_EQ(refusal("rotate", kRgb), "--stages: rotate: missing angle; expected 90, 180, 270");
  EXPECT_EQ(refusal("rotate:45", kRgb), "--stages: rotate: angle: must be one of 90, 180, 270; got '45'");
}

TEST(Plan, RectangleMustBeInsideTheImage) {
  EXPECT_EQ(refusal("crop:8x4", kRgb), "");
  EXPECT_EQ(labels("crop:8x4,crop:8x4+0+0", kRgb), "");
  EXPECT_EQ(make_plan(parse_stages("crop:8x4"), kRgb).notes,
            (std::vector<std::string>{"skipped crop:8x4: the rectangle is the whole image"}));
  EXPECT_EQ(refusal("crop:3x3+5+1", kRgb), "");
  for (const char* rectangle : {"9x4", "8x5", "3x3+6+0", "3x3+0+2", "1x1+8+0", "1x1+0+4", "8x4+1+0",
                                "2147483647x2147483647+2147483647+2147483647"}) {
    EXPECT_EQ(refusal("crop:" + std::string(rectangle), kRgb),
              "crop:" + std::string(rectangle) + " on a 8x4 image: outside the image");
  }
  EXPECT_EQ(refusal("rotate:90,crop:5x1", kRgb), "crop:5x1 on a 4x8 image: outside the image");
}

TEST(Plan, FusesNeighboursOnRequest) {
  const auto fused = [](std::string_view stages, const Shape& input) {
    std::string text;
    for (const Step& step : make_plan(parse_stages(stages), input, true).steps)
      text += (text.empty() ? "" : " ") + step.label;
    return text;
  };
  EXPECT_EQ(fused("gray,hist,contrast,smooth", kRgb), "gray+hist contrast+smooth");
  EXPECT_EQ(fused("gray,contrast,smooth", kRgba), "gray+hist* contrast+smooth merge*");
  EXPECT_EQ(fused("hist,contrast,smooth,smooth", kGrey), "hist contrast+smooth smooth#2");
  EXPECT_EQ(fused("contrast,smooth", kRgb), "split* hist* contrast+smooth merge*");
  EXPECT_EQ(fused("gray,smooth", kRgb), "gray smooth");
  const Plan plan = make_plan(parse_stages("gray,hist,contrast,smooth"), kRgb, true);
  ASSERT_EQ(plan.parts(0).size(), 2U);
  EXPECT_EQ(plan.parts(0)[1].stage->name, "hist");
  EXPECT_EQ(plan.parts(1)[0].counted_by, 1U);
}

TEST(Plan, LabelsShowNonDefaultParameters) {
  EXPECT_EQ(labels("smooth,smooth:gauss,smooth:border=reflect", kGrey),
            "smooth smooth#2:gauss smooth#3:border=reflect");
  EXPECT_EQ(labels("smooth:window=gauss:border=reflect", kGrey), "smooth:gauss:reflect");
  EXPECT_EQ(labels("smooth:box:shrink,gray:bt601", kRgb), "split* smooth merge* gray");
  EXPECT_EQ(labels("hist,contrast:0.50", kGrey), "hist contrast:0.5");
  EXPECT_EQ(labels("hist,contrast:clip-high=2", kGrey), "hist contrast:clip-high=2");
  EXPECT_EQ(labels("hist,contrast:1:2", kGrey), "hist contrast:1:2");
}

TEST(Plan, OptionsSetDefaultParameters) {
  const std::vector<OptionValue> options{{"window", "gauss"}, {"clip", "1,2"}, {"stretch", "each"}};
  const StagePresets presets(options);
  const std::vector<StageRequest> steps =
      parse_stages("smooth,smooth:box,contrast,contrast:0.5,contrast:clip-high=3", presets);
  const auto values = [&](std::size_t i) {
    const Parameters& p = steps[i].parameters;
    return std::vector<std::int64_t>{p[0], p[1], p[2]};
  };
  EXPECT_EQ(values(0), (std::vector<std::int64_t>{2, 0, 0}));
  EXPECT_EQ(values(1), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(values(2), (std::vector<std::int64_t>{1'000'000, 2'000'000, 1}));
  EXPECT_EQ(values(3), (std::vector<std::int64_t>{500'000, 500'000, 1}))
      << "what is said of clip is said of clip-high";
  EXPECT_EQ(values(4), (std::vector<std::int64_t>{1'000'000, 3'000'000, 1}));
  EXPECT_EQ(steps[0].said, "") << "what an option presets is preset";
  EXPECT_EQ(steps[1].said, ":box");
  EXPECT_EQ(parse_stages("contrast:1", presets).at(0).said, ":clip-high=1") << "and the preset is 2";
}

// The message is one line that names the allowed values.
TEST(Plan, RejectsInvalidParameters) {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"smooth:x", "--stages: smooth: window: must be one of box, triangle, gauss; got 'x'"},
      {"smooth:", "--stages: smooth: window: must be one of box, triangle, gauss; got ''"},
      {"smooth:size=5", "--stages: smooth: unknown parameter 'size'; must be one of window, border"},
      {"smooth:box:window=box", "--stages: smooth: window: given twice"},
      {"smooth:box:shrink:1", "--stages: smooth: unexpected value '1'; the parameters are window, border"},
      {"gray:=bt601", "--stages: gray: unknown parameter ''; must be one of luma"},
      {"invert:256", "--stages: invert: takes no parameters, got '256'"},
      {"hist:256", "--stages: hist: lo must be less than hi"},
      {"contrast:100",
       "--stages: contrast: clip: expected 0 to 99.999999 with at most 6 decimals, got '100'"},
      {"contrast:clip=-1",
       "--stages: contrast: clip: expected 0 to 99.999999 with at most 6 decimals, got '-1'"},
      {"contrast:0.1234567",
       "--stages: contrast: clip: expected 0 to 99.999999 with at most 6 decimals, got '0.1234567'"},
      {"contrast:1e1",
       "--stages: contrast: clip: expected 0 to 99.999999 with at most 6 decimals, got '1e1'"},
      {"contrast:0.", "--stages: contrast: clip: expected 0 to 99.999999 with at most 6 decimals, got '0.'"}};
  for (const auto& [text, reason] : wrong) {
    try {
      (void)parse_stages(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_STREQ(error.what(), reason);
    }
  }
}

constexpr Shape kDeepRgba{8, 4, 4, Sample::u16};

// depth accepts pixels in any layout.
TEST(Plan, DepthNeedsNoOtherLayout) {
  EXPECT_EQ(labels("depth:8", kDeepRgba), "depth:8");
  EXPECT_EQ(labels("smooth,depth:8", kDeepRgba), "split* smooth depth:8 merge*");
  const Plan needless = make_plan(parse_stages("depth:16,depth:8"), kRgb);
  EXPECT_EQ(needless.steps.size(), 2U);  // the first step makes the second one necessary
  const Plan left_out = make_plan(parse_stages("depth:8"), kRgb);
  EXPECT_TRUE(left_out.steps.empty());
  EXPECT_EQ(left_out.notes, (std::vector<std::string>{"skipped depth:8: the samples already have 8 bits"}));
}

TEST(Plan, RejectsTooLargeImages) {
  const auto refused = [](const char* stages, const Shape& input, std::int64_t most) {
    try {
      (void)make_plan(parse_stages(stages), input, false, most);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused("resize:100:100", kRgb, 10'000), "");
  EXPECT_EQ(refused("resize:100:101", kRgb, 10'000),
            "resize:100:101 would produce 100x101 pixels; raise --max-pixels (now 10000)");
  EXPECT_EQ(refused("resize:100:101,resize:1:1", kRgb, 10'000),
            "resize:100:101 would produce 100x101 pixels; raise --max-pixels (now 10000)");
  // The error names the inserted step, because it precedes the step that needs it.
  const std::string more = " would produce 8x4 pixels; raise --max-pixels (now 10)";
  for (const char* stages : {"smooth", "hist", "equalize", "smooth,crop:9x9"})
    EXPECT_EQ(refused(stages, kRgb, 10), "split*" + more);
  EXPECT_EQ(refused("smooth", kGrey, 10), "smooth" + more);
  EXPECT_EQ(refused("contrast", kGrey, 10), "contrast" + more);
  EXPECT_EQ(refused("hist", kGrey, 10), "");
  EXPECT_EQ(refused("smooth,crop:9x9", kGrey, 10), "smooth" + more);
  EXPECT_EQ(refused("crop:9x9", kRgb, 10), "crop:9x9 on a 8x4 image: outside the image");
}

// The stage that the planner inserts for a port makes its value and leaves the frame unchanged. Its own
// inputs are also inputs of the stage that it is inserted for.
TEST(Plan, PortsHaveNamesAndMakers) {
  for (const Stage& stage : stage_table()) {
    std::set<std::string_view> names;
    for (const Port& port : stage.ports.in) {
      EXPECT_TRUE(names.insert(port.name).second) << stage.name;
      if (port.made_by == nullptr) continue;
      EXPECT_NE(find_port(port.made_by->ports.out, port.kind), nullptr) << stage.name;
      EXPECT_FALSE(makes_pixels(*port.made_by)) << stage.name;
      for (const Port& read : port.made_by->ports.in)
        EXPECT_NE(find_port(stage.ports.in, read.kind), nullptr) << stage.name;
    }
  }
}

TEST(Plan, RejectsUnknownStages) {
  for (const char* text : {"", ",", "gray,", ",gray", "gray,,hist", "grays", "GRAY", "gr ay", "split",
                           "merge", "gray hist", "hist*"}) {
    try {
      (void)parse_stages(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("ust be one of gray, rgb, flatten, channel, hist, contrast"),
                std::string::npos);
    }
  }
}

TEST(Plan, BytesMovedCountsEachSampleOnce) {
  const FrameType rgba = frame_type_of(kRgba);
  const Stage& gray = *find_stage("gray");
  EXPECT_EQ(bytes_moved(gray, rgba, output_type(gray, rgba, {})), 32 * (4 + 2));
  const FrameType planar{8, 4, 3, true, Layout::planar};
  EXPECT_EQ(bytes_moved(*find_stage("hist"), planar, planar), 32 * 3);
  EXPECT_EQ(bytes_moved(*find_stage("smooth"), planar, planar), 32 * 6);
  EXPECT_EQ(bytes_moved(*find_stage("split"), rgba, planar), 32 * 8);
}

}  // namespace
}  // namespace imgpipe::test::plan_test

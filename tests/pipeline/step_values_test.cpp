// Tests the values of steps: each form that --stages accepts or rejects, and that a step's text reads back as
// the same step.
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/parameters.h"
#include "kernels/stage.h"
#include "pipeline/color_text.h"
#include "pipeline/parameter_text.h"
#include "pipeline/stage_list.h"
#include "pipeline/values_text.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test::step_values_test {
namespace {

constexpr Parameter kColor{.name = "color", .help = "", .kind = Parameter::Kind::color};
constexpr Parameter kReal{.name = "real", .help = "", .kind = Parameter::Kind::real};

std::string problem_of(const Parameter& parameter, std::string_view text) {
  try {
    (void)parse_value("x", parameter, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

std::string problem_of(std::string_view step) {
  try {
    (void)parse_stages(step);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

// Returns the text of a step, with its name.
std::string text_of(std::string_view step) {
  const StageRequest request = parse_stages(step).front();
  return std::string(request.stage->name) + request.said;
}

// ---- colours ------------------------------------------------------------------------------------------

TEST(StepValues, ColorsHaveNamesOrDigits) {
  EXPECT_EQ(color_names().size(), 142U) << "148 names and transparent, less the spellings with grey";
  EXPECT_EQ(parse_color("black"), 0x000000FFU);
  EXPECT_EQ(parse_color("rebeccapurple"), 0x663399FFU);
  EXPECT_EQ(parse_color("LightGoldenrodYellow"), 0xFAFAD2FFU);
  EXPECT_EQ(parse_color("transparent"), 0U);
  EXPECT_EQ(parse_color("#ff8000"), 0xFF8000FFU);
  EXPECT_EQ(parse_color("#Ff800012"), 0xFF800012U);
  EXPECT_EQ(parse_color("cyan"), parse_color("aqua"));
  EXPECT_EQ(parse_color("magenta"), parse_color("fuchsia"));
  for (const char* const gray :
       {"gray", "darkgray", "darkslategray", "dimgray", "lightgray", "lightslategray", "slategray"}) {
    std::string grey(gray);
    grey[grey.size() - 2] = 'e';
    ASSERT_TRUE(parse_color(gray)) << gray;
    EXPECT_EQ(parse_color(gray), parse_color(grey)) << grey;
  }
}

TEST(StepValues, ColorsReadBackEqual) {
  for (const std::string_view name : color_names()) {
    const auto color = parse_color(name);
    ASSERT_TRUE(color) << name;
    EXPECT_EQ(parse_color(color_text(*color)), color) << name;
    EXPECT_NE(color_text(*color).front(), '#') << name;
  }
  EXPECT_EQ(color_text(0xFF8000FF), "#ff8000");
  EXPECT_EQ(color_text(0xFFFFFF00), "#ffffff00");
  EXPECT_EQ(color_text(0x000000FF), "black");
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto color = static_cast<std::uint32_t>(random()) | (i % 2 == 0 ? 0xFFU : 0U);
    EXPECT_EQ(parse_color(color_text(color)), color) << color_text(color);
  }
}

TEST(StepValues, OtherColorsAreRejected) {
  for (const char* const text :
       {"", "#", "#fff", "#ffff", "#fffff", "#fffffff", "#fffffffff", "#gg0000", "#-12345", "#+12345",
        "# 12345", "0xff0000", "ff0000", "red ", " red", "rgb(1", "reddish", "12", "-1"}) {
    EXPECT_FALSE(parse_color(text)) << text;
    const std::string problem = problem_of(kColor, text);
    EXPECT_TRUE(problem.starts_with("x: expected a CSS colour name, #RRGGBB or #RRGGBBAA, got '" +
                                    std::string(text) + "'"))
        << problem;
  }
  EXPECT_EQ(problem_of(kColor, "blakc"),
            "x: expected a CSS colour name, #RRGGBB or #RRGGBBAA, got 'blakc'; did you mean black?");
  EXPECT_EQ(problem_of(kColor, "dark-gray"),
            "x: expected a CSS colour name, #RRGGBB or #RRGGBBAA, got 'dark-gray'; did you mean darkgray?");
}

// ---- doubles ------------------------------------------------------------------------------------------

TEST(StepValues, RealsAreTheNearestDoubles) {
  const auto value = [](std::string_view text) {
    return std::bit_cast<double>(parse_value("x", kReal, text));
  };
  EXPECT_EQ(value("0.48145466"), 0.48145466);
  EXPECT_EQ(value("1"), 1.0);
  EXPECT_EQ(value("+1.5"), 1.5);
  EXPECT_EQ(value("-1e-5"), -1e-5);
  EXPECT_EQ(value("1E+22"), 1e22);
  EXPECT_EQ(value(".5"), 0.5);
  EXPECT_EQ(value("0.1000000000000000055511151231257827021181583404541015625"), 0.1);
  EXPECT_EQ(value("9007199254740993"), 9007199254740992.0) << "halfway, to even";
  for (const char* const text :
       {"",   "+",  "-",   "+-1",  "-+1", "--1",      "++1",   "1e",     "e5",    "0x10", "1,5",
        "1 ", " 1", "inf", "-inf", "nan", "infinity", "1e400", "-1e999", "1.5.2", "one"}) {
    EXPECT_EQ(problem_of(kReal, text), "x: expected a number, got '" + std::string(text) + "'");
  }
}

TEST(StepValues, RealsReadBackEqual) {
  EXPECT_EQ(value_text(kReal, std::bit_cast<std::int64_t>(0.1)), "0.1");
  EXPECT_EQ(value_text(kReal, std::bit_cast<std::int64_t>(0.48145466)), "0.48145466");
  Random random(5);
  for (int i = 0; i < 5000; ++i) {
    const auto bits = std::bit_cast<std::int64_t>(static_cast<std::uint64_t>(random()));
    if (!std::isfinite(std::bit_cast<double>(bits))) continue;
    EXPECT_EQ(parse_value("x", kReal, value_text(kReal, bits)), bits) << value_text(kReal, bits);
  }
}

// The words of a number are negative; as the bits of a double they are NaNs, which have no text.
TEST(StepValues, RealsMayHaveWords) {
  static constexpr std::array<std::string_view, 1> kWords{"none"};
  Parameter parameter = kReal;
  parameter.words = kWords;
  EXPECT_EQ(parse_value("x", parameter, "none"), -1);
  EXPECT_EQ(value_text(parameter, -1), "none");
  EXPECT_EQ(value_text(parameter, std::bit_cast<std::int64_t>(-2.0)), "-2");
  EXPECT_EQ(problem_of(parameter, "nine"), "x: expected a number, or none, got 'nine'; did you mean none?");
}

// ---- sizes --------------------------------------------------------------------------------------------

TEST(StepValues, SizeIsOneValue) {
  EXPECT_EQ(text_of("resize:640x480"), "resize:640:480");
  EXPECT_EQ(text_of("resize:8x8:nearest"), "resize:8:8:nearest");
  EXPECT_EQ(text_of("resize:8:8:box"), "resize:8:8:box");
  EXPECT_EQ(text_of("resize:8x8:box"), "resize:8:8:box");
  EXPECT_EQ(text_of("resize:8x8:fit=inside"), "resize:8:8:fit=inside");
  EXPECT_EQ(text_of("resize:method=area:8x9"), "resize:8:9:area");
  EXPECT_EQ(text_of("resize:8x0"), "resize:8");
  EXPECT_EQ(text_of("pad:9x8:red"), "pad:9x8:red");
  EXPECT_EQ(text_of("pad:9:8:#FF0000:left"), "pad:9x8:red:left");
  EXPECT_EQ(text_of("crop:9x8"), "crop:9x8");
}

TEST(StepValues, RectangleIsOneValue) {
  const auto values = [](std::string_view step) {
    const Parameters p = parse_stages(step).front().parameters;
    return std::vector<std::int64_t>{p[0], p[1], p[2], p[3]};
  };
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(values("crop:64x48+10+20"), (Values{64, 48, 10, 20}));
  EXPECT_EQ(values("crop:64x48"), (Values{64, 48, -1, -1}));
  EXPECT_EQ(values("crop:64x48:7"), (Values{64, 48, 7, -1}));
  EXPECT_EQ(values("crop:64x48:y=7"), (Values{64, 48, -1, 7}));
  EXPECT_EQ(values("crop:64:48:10:20"), (Values{64, 48, 10, 20}));
  EXPECT_EQ(values("crop:height=48:width=64:y=center:x=0"), (Values{64, 48, 0, -1}));
  EXPECT_EQ(values("crop:x=3:64x48"), (Values{64, 48, 3, -1}));
  EXPECT_EQ(text_of("crop:2:2:1:1"), "crop:2x2+1+1");
  EXPECT_EQ(text_of("crop:2x2:1"), "crop:2x2:1");
  EXPECT_EQ(text_of("crop:2x2:y=1"), "crop:2x2:y=1");
  EXPECT_EQ(text_of("crop:2x2:center:center"), "crop:2x2");
}

TEST(StepValues, PercentIsOneValue) {
  EXPECT_EQ(text_of("resize:50%"), "resize:50%");
  EXPECT_EQ(text_of("resize:12.5%:area"), "resize:12.5%:area");
  EXPECT_EQ(text_of("resize:percent=12.50:method=area"), "resize:12.5%:area");
  EXPECT_EQ(text_of("resize:method=lanczos:150%:rule=pillow12"), "resize:150%:lanczos:rule=pillow12");
  EXPECT_EQ(problem_of("resize:1.2345678%"),
            "--stages: resize: percent: expected 0 to 100000 with at most 6 decimals, got '1.2345678'");
  EXPECT_EQ(problem_of("resize:%"),
            "--stages: resize: percent: expected 0 to 100000 with at most 6 decimals, got ''");
  EXPECT_EQ(problem_of("resize:8:50%"), "--stages: resize: height: expected 0 to 1000000, got '50%'");
  EXPECT_EQ(problem_of("resize:50%:percent=5"), "--stages: resize: percent: given twice");
}

TEST(StepValues, OnlyTheFirstValueIsASize) {
  EXPECT_EQ(problem_of("crop:10:10:box"),
            "--stages: crop: x: expected 0 to 2147483647, or center, got 'box'");
  EXPECT_EQ(problem_of("crop:10:10x3"), "--stages: crop: height: expected 1 to 2147483647, got '10x3'");
  EXPECT_EQ(problem_of("resize:8:8x8"), "--stages: resize: height: expected 0 to 1000000, got '8x8'");
  for (const char* const text : {"8x8x8", "bicubic", "", "8*8", "x8", "8x"})
    EXPECT_EQ(problem_of("resize:" + std::string(text)),
              "--stages: resize: expected WxH, N% or a width, such as 640x480, 50% or 640, got '" +
                  std::string(text) + "'");
  EXPECT_EQ(
      problem_of("resize:8x8:8"),
      "--stages: resize: method: must be one of linear, area, nearest, box, bilinear, hamming, bicubic, "
      "lanczos; got '8'");
  EXPECT_EQ(problem_of("resize:640x480+1+2"),
            "--stages: resize: '640x480+1+2': a size has no offsets; use 640x480, and crop for a rectangle");
  EXPECT_EQ(problem_of("pad:9"), "--stages: pad: missing size; expected WxH, such as 640x480");
  EXPECT_EQ(problem_of("pad:red:9:8"), "--stages: pad: expected WxH, such as 640x480, got 'red'");
  EXPECT_EQ(problem_of("levels:3x4"),
            "--stages: levels: '3x4': values are separated by colons; use levels:3:4");
}

TEST(StepValues, ContradictingSizesAreRejected) {
  const std::string both =
      "--stages: resize: width and height cannot be combined with shortest and longest; remove one pair";
  EXPECT_EQ(problem_of("resize:8:shortest=9"), both);
  EXPECT_EQ(problem_of("resize:8x9:longest=9"), both);
  const std::string percent = "--stages: resize: N% cannot be combined with another size; remove one";
  EXPECT_EQ(problem_of("resize:50%:width=9"), percent);
  EXPECT_EQ(problem_of("resize:50%:shortest=9"), percent);
  const std::string none =
      "--stages: resize: expected a size: WxH, width=N, height=N, shortest=N, longest=N or N%";
  for (const char* const step : {"resize", "resize:0%", "resize:0x0", "resize:method=area"})
    EXPECT_EQ(problem_of(step), none) << step;
  const std::string sides =
      "--stages: resize: fit=cover and fit=contain need a width and a height, such as 640x480";
  for (const char* const step :
       {"resize:8:fit=contain", "resize:50%:bicubic:cover", "resize:shortest=8:fit=cover"})
    EXPECT_EQ(problem_of(step), sides) << step;
  EXPECT_EQ(problem_of("resize:50%:fit=inside"),
            "--stages: resize: fit needs a width and a height, such as 640x480");
  EXPECT_EQ(problem_of("resize:8:fit=inside"), "");
  EXPECT_EQ(problem_of("resize:8x9:sizes=pillow"), "--stages: resize: sizes needs shortest=N or longest=N");
  EXPECT_EQ(problem_of("resize:shortest=8:longest=8:sizes=torchvision"),
            "--stages: resize: sizes=torchvision needs a longest above shortest");
  EXPECT_EQ(problem_of("resize:shortest=8:longest=8"), "");
  EXPECT_EQ(problem_of("resize:8x9:background=red"), "--stages: resize: background needs fit=contain");
  EXPECT_EQ(problem_of("resize:8x9:fit=contain:background=red"), "");
  EXPECT_EQ(problem_of("resize:8x9:area:cover"),
            "--stages: resize: fit=cover needs a filter: method=box, bilinear, hamming, bicubic or lanczos");
  EXPECT_EQ(problem_of("resize:8x9:rule=pillow12"),
            "--stages: resize: rule needs a filter: method=box, bilinear, hamming, bicubic or lanczos");
}

// ---- lists --------------------------------------------------------------------------------------------

TEST(StepValues, ListSetsTheNextParameters) {
  EXPECT_EQ(text_of("contrast:clip=1/2"), "contrast:1:2");
  EXPECT_EQ(text_of("contrast:1/2:each"), "contrast:1:2:each");
  EXPECT_EQ(problem_of("contrast:clip=1/2/3"),
            "--stages: contrast: clip: expected at most 2 values, got '1/2/3'");
  EXPECT_EQ(problem_of("contrast:clip=1/2:clip-high=3"), "--stages: contrast: clip-high: given twice");
  EXPECT_EQ(problem_of("contrast:clip=1/"),
            "--stages: contrast: clip-high: expected 0 to 99.999999 with at most 6 decimals, got ''");
  EXPECT_EQ(problem_of("gamma:1/2"),
            "--stages: gamma: gamma: expected 0.01 to 100 with at most 6 decimals, got '1/2'");
}

// A stage with a choice and two lists of three values, none of them set.
constexpr std::array<std::string_view, 2> kChoices{"a", "b"};
constexpr std::array<std::string_view, 1> kNone{"none"};
constexpr Parameter real(std::string_view name, bool like_previous) {
  return {.name = name,
          .help = "",
          .kind = Parameter::Kind::real,
          .preset = -1,
          .words = kNone,
          .like_previous = like_previous};
}
constexpr std::array kLists{Parameter{.name = "choice", .help = "", .words = kChoices},
                            real("mean", false),
                            real("mean-2", true),
                            real("mean-3", true),
                            real("std", false),
                            real("std-2", true),
                            real("std-3", true)};
constexpr Stage kListStage{.name = "lists", .parameters = kLists};

TEST(StepValues, ListsAreWrittenAsLists) {
  const auto text = [](std::int64_t choice, const std::vector<double>& values) {
    Parameters parameters = presets(kLists);
    parameters.values[0] = choice;
    for (std::size_t i = 0; i < values.size(); ++i)
      parameters.values[1 + i] = std::bit_cast<std::int64_t>(values[i]);
    return values_text(kListStage, parameters, presets(kLists));
  };
  EXPECT_EQ(list_values(kListStage, 0), 1U);
  EXPECT_EQ(list_values(kListStage, 1), 3U);
  EXPECT_EQ(list_values(kListStage, 2), 2U);
  EXPECT_EQ(list_values(kListStage, 6), 1U);
  EXPECT_EQ(text(0, {}), "");
  EXPECT_EQ(text(0, {0.5, 0.5, 0.5}), ":mean=0.5");
  EXPECT_EQ(text(0, {0.5, 0.25, 0.125}), ":mean=0.5/0.25/0.125");
  EXPECT_EQ(text(0, {0.5, 0.5, 0.25}), ":mean=0.5/0.5/0.25");
  EXPECT_EQ(text(0, {0.5, 0.25, 0.25}), ":mean=0.5/0.25");
  EXPECT_EQ(text(0, {1, 2, 3, 4, 5, 6}), ":mean=1/2/3:std=4/5/6");
  EXPECT_EQ(text(0, {1, 1, 1, 4, 4, 4}), ":mean=1:std=4");
  EXPECT_EQ(text(1, {1, 2, 3, 4, 5, 6}), ":b:1:2:3:4:5:6");
  EXPECT_EQ(text(1, {1, 1, 2, 4, 4, 4}), ":b:1/1/2:std=4");
}

// ---- all stages ---------------------------------------------------------------------------------------

// Every parameter row of every stage is complete.
TEST(StepValues, EveryParameterIsComplete) {
  for (const Stage& stage : stage_table()) {
    ASSERT_LE(stage.parameters.size(), kMaxParameters) << stage.name;
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
      const Parameter& row = stage.parameters[i];
      EXPECT_FALSE(row.name.empty() || row.help.empty()) << stage.name;
      EXPECT_TRUE(i > 0 || !row.like_previous) << stage.name;
      switch (row.kind) {
        case Parameter::Kind::choice:
          EXPECT_FALSE(row.words.empty()) << stage.name << " " << row.name;
          EXPECT_LT(row.preset, static_cast<std::int64_t>(row.words.size()));
          break;
        case Parameter::Kind::integer:
        case Parameter::Kind::decimal:
        case Parameter::Kind::operand:
          EXPECT_LT(row.least, row.most) << stage.name << " " << row.name;
          EXPECT_TRUE(row.required || row.preset < 0 || (row.preset >= row.least && row.preset <= row.most));
          break;
        case Parameter::Kind::image:
          EXPECT_TRUE(row.required) << stage.name << " " << row.name;
          break;
        case Parameter::Kind::color:
        case Parameter::Kind::real:
          if (row.required) break;
          EXPECT_EQ(parse_value("", row, value_text(row, row.preset)), row.preset);
          break;
      }
    }
  }
}

TEST(StepValues, StepsReadBackEqual) {
  Random random(20261126);
  int read = 0;
  for (const Stage* const stage : selectable_stages()) {
    for (int i = 0; i < 300; ++i) {
      const std::string step = random_step(random, *stage);
      if (!problem_of(step).empty()) continue;
      ++read;
      const StageRequest request = parse_stages(step).front();
      const StageRequest again = parse_stages(text_of(step)).front();
      ASSERT_EQ(again.parameters.values, request.parameters.values) << step << " as " << text_of(step);
      ASSERT_EQ(again.said, request.said) << step;
      ASSERT_EQ(request_of(*stage, request.parameters).said, request.said) << step;
    }
  }
  EXPECT_GT(read, 100 * std::ssize(selectable_stages()));
}

}  // namespace
}  // namespace imgpipe::test::step_values_test

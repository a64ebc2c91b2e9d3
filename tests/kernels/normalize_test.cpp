// Tests normalize: refusals, the tensors of plans, and floats of 16 bits. tests/golden has its results, and
// float_oracle.py compares all values of all formulas with numpy.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/normalize/narrow_float.h"
#include "kernels/stage.h"
#include "pipeline/plan.h"

namespace imgpipe::test::normalize_test {
namespace {

// ---- floats of 16 bits ------------------------------------------------------------------------------

// The value of positive bits whose exponent has `exponent_bits` bits, as defined in IEEE 754. The value of
// the infinite bits is that of the next power of two, to which numbers are rounded.
double value_of(std::uint32_t bits, int exponent_bits) {
  const int digits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> digits);
  const double significand = bits & ((1U << digits) - 1);
  if (exponent == 0) return std::ldexp(significand, 1 - bias - digits);
  return std::ldexp(significand + (1 << digits), exponent - bias - digits);
}

std::uint32_t bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

// Both functions never decrease, so that they are right for all floats if they are right at each value of
// 16 bits, halfway to the next one, and at the floats next to the middle.
template <class Round>
void expect_nearest(const Round& rounded, int exponent_bits) {
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << (15 - exponent_bits);
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double value = value_of(bits, exponent_bits);
    const double middle = (value + value_of(bits + 1, exponent_bits)) / 2;
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(rounded(bits_of(value)), bits);
    ASSERT_EQ(rounded(bits_of(value) | 0x80000000U), bits | 0x8000U);
    if (static_cast<double>(static_cast<float>(middle)) != middle) continue;  // no float is halfway
    ASSERT_EQ(rounded(bits_of(middle)), even) << bits;
    ASSERT_EQ(rounded(bits_of(middle) - 1), bits);
    ASSERT_EQ(rounded(bits_of(middle) + 1), bits + 1);
    ASSERT_EQ(rounded(bits_of(middle) | 0x80000000U), even | 0x8000U) << bits;
  }
  const std::uint32_t nan = infinity | 1U << (14 - exponent_bits);
  EXPECT_EQ(rounded(0x7F800000), infinity);
  EXPECT_EQ(rounded(0xFF800000), infinity | 0x8000U);
  for (const std::uint32_t one : {0x7F800001U, 0x7FC00000U, 0xFFFFFFFFU}) EXPECT_EQ(rounded(one), nan);
}

TEST(NarrowFloat, Float16IsTheNearest) {
  expect_nearest(float16_bits, 5);
}

TEST(NarrowFloat, BFloat16IsTheNearest) {
  expect_nearest(bfloat16_bits, 8);
}

TEST(NarrowFloat, NeverDecreases) {
  constexpr std::uint32_t kStep = 977;  // a prime, so that all low bits occur
  std::uint32_t half = 0;
  std::uint32_t brain = 0;
  for (std::uint32_t bits = 0; bits <= 0x7F800000 - kStep; bits += kStep) {
    ASSERT_GE(float16_bits(bits), half) << bits;
    ASSERT_GE(bfloat16_bits(bits), brain) << bits;
    half = float16_bits(bits);
    brain = bfloat16_bits(bits);
  }
}

// ---- refusals ---------------------------------------------------------------------------------------

std::string refusal_of(std::string_view stages, const Shape& input) {
  try {
    (void)make_plan(parse_stages(stages), input);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << stages;
    return error.what();
  }
  return "";
}

constexpr Shape kGrey{8, 4, 1}, kGreyAlpha{8, 4, 2}, kRgb{8, 4, 3}, kRgba{8, 4, 4};

TEST(Normalize, RefusesIncompleteValues) {
  const std::string first = "--stages: normalize: ";
  for (const std::string step : {"normalize", "normalize:custom", "normalize:dtype=float16"}) {
    EXPECT_EQ(refusal_of(step, kRgb),
              "--stages: normalize makes tensors and needs imagenet, clip, siglip or mean=...; to stretch "
              "contrast use contrast");
  }
  EXPECT_EQ(refusal_of("normalize:mean=0.5", kRgb), first + "mean needs std as well; add std=...");
  EXPECT_EQ(refusal_of("normalize:std=0.5", kRgb), first + "std needs mean as well; add mean=...");
  EXPECT_EQ(refusal_of("normalize:clip:std=0.5", kRgb),
            first + "takes a preset, or mean and std, but not both");
  EXPECT_EQ(refusal_of("normalize:mean=0.5/none/0.5:std=1", kRgb),
            first + "none cannot be combined with numbers");
  for (const std::string zero : {"0", "0.0", "-0", "0.5/0.5/0", "1e-60"})
    EXPECT_EQ(refusal_of("normalize:mean=0.5:std=" + zero, kRgb), first + "std must not be 0");
  for (const std::string huge : {"mean=1e39:std=1", "mean=0:std=-1e200"})
    EXPECT_EQ(refusal_of("normalize:" + huge, kRgb),
              first + "mean and std must be numbers that a 32-bit float holds");
  for (const std::string number : {"nan", "inf", "-infinity", "0x1p3", "", "0.5/"})
    EXPECT_NE(refusal_of("normalize:mean=" + number + ":std=1", kRgb), "") << number;
}

TEST(Normalize, IsTheLastStep) {
  EXPECT_EQ(refusal_of("normalize:clip,invert", kRgb),
            "--stages: normalize must be the last step, but invert follows it");
  EXPECT_EQ(refusal_of("normalize:clip,hist", kRgb),
            "--stages: normalize must be the last step, but hist follows it");
  EXPECT_EQ(refusal_of("normalize:clip,normalize:clip", kRgb),
            "--stages: normalize must be the last step, but normalize follows it");
}

TEST(Normalize, RefusesOtherImages) {
  EXPECT_EQ(refusal_of("normalize:clip", {8, 4, 3, Sample::f32}),
            "normalize:clip does not accept float samples; insert depth:8 or depth:16 before it");
  EXPECT_EQ(refusal_of("depth:float,normalize:siglip", kRgb),
            "normalize:siglip does not accept float samples; insert depth:8 or depth:16 before it");
  for (const Shape& shape : {kGreyAlpha, kRgba}) {
    EXPECT_EQ(refusal_of("normalize:clip", shape),
              "normalize:clip on a 8x4 image: alpha is not accepted; insert rgb or flatten before it");
  }
  for (const std::string values : {":clip", ":siglip", ":mean=0.1/0.2/0.3:std=0.5"}) {
    EXPECT_EQ(refusal_of("normalize" + values, kGrey),
              "normalize" + values +
                  " on a 8x4 image: grey has one channel, but mean and std have three; insert rgb before it");
  }
  EXPECT_EQ(refusal_of("normalize:mean=0.5:std=0.5", kGrey), "");
}

// ---- plans ------------------------------------------------------------------------------------------

TEST(Normalize, PlansATensor) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    const Shape shape{8, 4, 3, sample};
    const Plan plan = make_plan(parse_stages("crop:7x3,normalize:clip:dtype=float16"), shape, false, 32, 8);
    EXPECT_EQ(plan.tensor, (TensorType{.channels = 3, .height = 3, .width = 7, .sample = Sample::f16}));
    EXPECT_EQ(plan.output, (Shape{7, 9, 1, Sample::f16})) << "more pixels than the limit of images";
    EXPECT_FALSE(plan.reduced);
    EXPECT_EQ(plan.steps.size(), 2U) << "either layout is read";
  }
  const std::string_view mixed = "normalize:imagenet:layout=nhwc:dtype=bfloat16:formula=totensor";
  const Plan plan = make_plan(parse_stages(mixed), kRgb);
  EXPECT_EQ(plan.tensor, (TensorType{3, 4, 8, TensorLayout::nhwc, Sample::bf16, TensorFormula::totensor}));
  EXPECT_EQ(plan.output, (Shape{8, 4, 3, Sample::bf16}));
  EXPECT_EQ(make_plan(parse_stages("gray,normalize:mean=0.5:std=0.5:layout=nhwc"), kRgb).output,
            (Shape{8, 4, 1, Sample::f32}));
  EXPECT_FALSE(make_plan(parse_stages("depth:float"), kRgb).tensor);
  constexpr std::int64_t kHigh = kMaxSide / 2;
  EXPECT_NE(refusal_of("normalize:clip", {1, kHigh, 3}).find("would produce"), std::string::npos);
  EXPECT_EQ(refusal_of("normalize:clip:layout=nhwc", {1, kHigh, 3}), "");
}

TEST(Normalize, IsOneResultOfSeveral) {
  const std::array<std::string_view, 3> lists{"invert,normalize:clip", "invert", "invert,normalize:siglip"};
  const Plan plan = make_branched_plan(lists, kRgb);
  EXPECT_EQ(plan.operations.size(), 3U) << "invert runs once";
  EXPECT_TRUE(plan.tensor);
  EXPECT_FALSE(make_branched_plan(std::span(lists).first<2>(), kRgb).tensor);
}

}  // namespace
}  // namespace imgpipe::test::normalize_test

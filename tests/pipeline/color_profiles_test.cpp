// Tables of ICC profiles: curves and matrices against double arithmetic, lcms2 against the rule of matrices,
// and faults.
#include "pipeline/color_profiles.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/icc.h"
#include "images/codecs/icc_curves.h"
#include "images/codecs/icc_transform.h"
#include "images/error.h"
#include "images/text.h"
#include "kernels/icc/icc.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::color_profiles_test {
namespace {

using Bytes = std::vector<std::byte>;

TEST(ExactPower, IsThePower) {
  for (const double exponent : {1 / 2.4, 2.4, 1.8, 563 / 256.0, 1.0, 0.01, 100.0, -1.5}) {
    for (double x = 1e-9; x < 40; x *= 1.37) {
      const double expected = std::pow(x, exponent);
      if (expected < 1e-280 || expected > 1e280) continue;  // becomes 0 or infinite earlier
      EXPECT_NEAR(exact_power(x, exponent) / expected, 1, 1e-13) << x << "^" << exponent;
    }
  }
  EXPECT_EQ(exact_power(0, 2.2), 0);
  EXPECT_EQ(exact_power(0, 0), 1);
  EXPECT_EQ(exact_power(1, 2.2), 1);
  EXPECT_EQ(exact_power(1e-300, 30000), 0);
  EXPECT_TRUE(std::isinf(exact_power(2, 32767)));
}

std::array<Sample16, 3> converted_by(const SecondImage& table, const Sample16 (&v)[4]) {
  Sample16 out[3];
  icc_pixel<Sample16>(icc_head({.image = &table}), table.planes.data(), v, out);
  return {out[0], out[1], out[2]};
}

// Calls check(r, g, b) for colours spread over the cube.
void for_colors(const std::function<void(const Sample16 (&)[4])>& check) {
  for (std::uint32_t r = 0; r < 65536; r += 4369)
    for (std::uint32_t g = 0; g < 65536; g += 5041)
      for (std::uint32_t b = 0; b < 65536; b += 9362) {
        const Sample16 v[4] = {static_cast<Sample16>(r), static_cast<Sample16>(g), static_cast<Sample16>(b),
                               0};
        check(v);
      }
}

TEST(ColorProfiles, MatrixEqualsDoubles) {
  const Bytes profile = adobe_profile();
  const auto table = profile_table(profile, 0);
  EXPECT_EQ(table->name, "matrix33");
  const ColorMatrix matrix = *matrix_to_srgb(profile);
  for_colors([&](const Sample16(&v)[4]) {
    const auto made = converted_by(*table, v);
    for (std::size_t row = 0; row < 3; ++row) {
      double light = 0;
      for (std::size_t c = 0; c < 3; ++c) light += matrix[row][c] * std::pow(v[c] / 65535.0, 563 / 256.0);
      light = std::min(std::max(light, 0.0), 1.0);
      const double expected = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
      ASSERT_NEAR(made[row], 65535 * expected, 1.6) << v[0] << " " << v[1] << " " << v[2] << " " << row;
    }
  });
}

// The same profile with a table, so that lcms2 evaluates it: the nodes are those of the rule of matrices.
TEST(ColorProfiles, LcmsAgreesAtNodes) {
  if (lcms_version().empty()) GTEST_SKIP() << "a build without lcms2";
  const Bytes profile = adobe_profile();
  const auto table = profile_table(profile, 0);
  constexpr int kPoints = 6;
  const std::vector<std::uint16_t> grid = srgb_grid(profile, RenderingIntent::relative, kPoints);
  ASSERT_EQ(grid.size(), std::size_t{3} * kPoints * kPoints * kPoints);
  for (std::uint32_t i = 0; i < kPoints * kPoints * kPoints; ++i) {
    const auto node = [](std::uint32_t n) { return static_cast<Sample16>(n % kPoints * 13107); };
    const Sample16 v[4] = {node(i / (kPoints * kPoints)), node(i / kPoints), node(i), 0};
    const auto made = converted_by(*table, v);
    // lcms2 does not round the primaries of sRGB, which matters for dark samples.
    for (std::size_t c = 0; c < 3; ++c) ASSERT_NEAR(made[c], grid[3 * i + c], 40) << i << " channel " << c;
  }
}

TEST(ColorProfiles, GreysStayGrey) {
  const auto table = profile_table(adobe_profile(), 0);
  for (std::uint32_t v = 0; v < 65536; ++v) {
    const auto s = static_cast<Sample16>(v);
    const auto made = converted_by(*table, {s, s, s, 0});
    // The sum of the profile's primaries is within 65536ths of D50.
    ASSERT_NEAR(made[0], made[1], 3);
    ASSERT_NEAR(made[2], made[1], 3);
  }
}

TEST(ColorProfiles, EqualProfilesShareATable) {
  const Bytes one = adobe_profile(), other = adobe_profile();
  Bytes longer = one;
  longer.resize(longer.size() + 5);  // padding
  EXPECT_EQ(profile_table(one, 0), profile_table(other, 0));
  EXPECT_EQ(profile_table(one, 0), profile_table(longer, 0));
}

TEST(ColorProfiles, StepsAreBound) {
  ImageHeader header;
  const std::vector<StageRequest> steps = parse_stages("invert,icc:srgb,icc:srgb");
  EXPECT_EQ(with_profile(steps, header)[1].image, nullptr);
  header.icc =
      std::make_shared<const Bytes>(matrix_profile(kSrgbPrimaries, srgb_curve(), text_description("s")));
  EXPECT_EQ(with_profile(steps, header)[1].image, nullptr);
  header.icc = std::make_shared<const Bytes>(adobe_profile());
  const std::vector<StageRequest> bound = with_profile(steps, header);
  ASSERT_NE(bound[1].image, nullptr);
  EXPECT_EQ(bound[1].parameters.image, bound[1].image.get());
  EXPECT_EQ(bound[2].image, nullptr);
  EXPECT_FALSE(with_profile(DecodeOptions{}, steps).inks);
  EXPECT_TRUE(with_profile(DecodeOptions{}, parse_stages("icc")).inks);
  EXPECT_FALSE(with_profile(DecodeOptions{}, parse_stages("gray")).with_profile);
}

std::string error_of(const Bytes& profile) {
  try {
    (void)profile_table(profile, 0);
  } catch (const Error& error) {
    EXPECT_EQ(printable(error.what()), error.what());
    return error.what();
  }
  return "";
}

TEST(ColorProfiles, FaultsAreReported) {
  const auto has = [](const Bytes& profile, const std::string& text) {
    return error_of(profile).find(text) != std::string::npos;
  };
  const Bytes valid = adobe_profile();
  EXPECT_TRUE(has({}, "not an ICC profile"));
  EXPECT_TRUE(has({valid.begin(), valid.end() - 1}, "truncated"));
  Bytes link = valid;
  std::copy_n(reinterpret_cast<const std::byte*>("link"), 4, link.begin() + 12);
  EXPECT_TRUE(has(link, "not a profile of a device"));
  EXPECT_TRUE(
      has(make_profile("Lab ", {{"desc", text_description("x")}}), "not a profile of grey, RGB or CMYK"));
  EXPECT_TRUE(has(make_profile("GRAY", {{"desc", text_description("x")}}), "damaged curve"));
  EXPECT_TRUE(
      has(matrix_profile(kAdobePrimaries, text_description("x"), text_description("y")), "damaged curve"));
  Primaries huge = kAdobePrimaries;
  huge[0][0] = 20000;
  EXPECT_TRUE(has(matrix_profile(huge, curve({563}), text_description("y")), "implausible matrix"));
  EXPECT_FALSE(error_of(make_profile("RGB ", {{"desc", text_description("x")}})).empty());
}

}  // namespace
}  // namespace imgpipe::test::color_profiles_test

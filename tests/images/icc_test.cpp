// Names of colour profiles, and the detection of sRGB.
#include "images/codecs/icc.h"

#include <random>

#include <gtest/gtest.h>

#include "images/text.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::icc_test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr double kWhite[] = {0.9642, 1, 0.8249};

Bytes grey_profile(const Bytes& curve_data, const Bytes& description) {
  return make_profile(
      "GRAY",
      {{"desc", description}, {"wtpt", xyz({kWhite[0], kWhite[1], kWhite[2]})}, {"kTRC", curve_data}});
}

TEST(Icc, SrgbIsDetectedByItsBehaviour) {
  const Bytes c2 = text_description("c2");  // the smallest profiles have this name
  EXPECT_EQ(profile_name(matrix_profile(kSrgbPrimaries, srgb_curve(), c2)), "");
  EXPECT_EQ(profile_name(matrix_profile(kSrgbPrimaries, srgb_table(1024), c2)), "");
  EXPECT_EQ(
      profile_name(matrix_profile(kSrgbPrimaries, srgb_table(4096), text_description("sRGB IEC61966-2.1"))),
      "");
  EXPECT_EQ(profile_name(matrix_profile(kSrgbPrimaries, srgb_table(26), c2)), "");
  EXPECT_EQ(profile_name(grey_profile(srgb_curve(), text_description("sGrey"))), "");
}

TEST(Icc, NameAloneDoesNotMakeAProfileSrgb) {
  const Bytes name = text_description("sRGB linear");
  EXPECT_EQ(profile_name(matrix_profile(kSrgbPrimaries, curve({}), name)), "sRGB linear");
  EXPECT_EQ(profile_name(matrix_profile(kSrgbPrimaries, curve({563}), name)), "sRGB linear");
  EXPECT_EQ(profile_name(matrix_profile(kAdobePrimaries, srgb_curve(), name)), "sRGB linear");
}

TEST(Icc, TableProfilesAreClassifiedByName) {
  const Bytes tables(40, std::byte{1});
  const auto named = [&](const char* name) {
    return profile_name(make_profile("RGB ", {{"desc", text_description(name)}, {"A2B0", tables}}));
  };
  EXPECT_EQ(named("sRGB v4 ICC preference"), "");
  EXPECT_EQ(named("SRGB built-in"), "");
  EXPECT_EQ(named("ProPhoto RGB"), "ProPhoto RGB");
  EXPECT_EQ(named("A display (not sRGB)"), "A display (not sRGB)");
  EXPECT_EQ(profile_name(make_profile("CMYK", {{"desc", text_description("sRGB")}})), "sRGB");
}

TEST(Icc, Names) {
  EXPECT_EQ(profile_name(adobe_profile()), "Adobe RGB (1998)");
  const auto named = [](const Bytes& description) {
    return profile_name(matrix_profile(kAdobePrimaries, curve({563}), description));
  };
  EXPECT_EQ(named(localized_names({{"de", u"Anzeige"}, {"en", u"Display P3"}})), "Display P3");
  EXPECT_EQ(named(localized_names({{"de", u"\u00dcber \u20ac \U0001F600"}})), "\u00dcber \u20ac \U0001F600");
  EXPECT_EQ(named(text_description("trailing  \n")), "trailing");
  EXPECT_EQ(named(text_description("")), "unnamed");
  EXPECT_EQ(named(text_description("\x1b[31mred\xff")), "\\x1B[31mred\\xFF");
  EXPECT_EQ(named(text_description(std::string(1000, 'x'))), std::string(80, 'x'));
  const std::u16string accents(1000, u'\u00e9');
  EXPECT_EQ(named(localized_names({{"en", accents}})).size(), 80U) << "bytes";
  EXPECT_EQ(profile_name(grey_profile(curve({563}), text_description("Gray Gamma 2.2"))), "Gray Gamma 2.2");
  EXPECT_EQ(profile_name(make_profile("RGB ", {})), "unnamed");
}

TEST(Icc, EveryKindOfParametricCurve) {
  const Bytes name = text_description("x");
  const auto is_srgb = [&](unsigned function, const std::vector<double>& parameters) {
    return profile_name(matrix_profile(kSrgbPrimaries, parametric_curve(function, parameters), name)).empty();
  };
  EXPECT_FALSE(is_srgb(0, {2.2}));
  EXPECT_TRUE(is_srgb(1, {2.4, 1 / 1.055, 0.055 / 1.055})) << "without the line at the dark end: 0.0008 away";
  EXPECT_FALSE(is_srgb(1, {2.4, 1, 0}));
  EXPECT_FALSE(is_srgb(2, {2.4, 1 / 1.055, 0.055 / 1.055, 0.1}));
  EXPECT_TRUE(is_srgb(3, {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045}));
  EXPECT_TRUE(is_srgb(4, {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045, 0, 0}));
  EXPECT_FALSE(is_srgb(4, {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045, 0.1, 0}));
  EXPECT_FALSE(is_srgb(5, {2.4, 1, 1, 1, 1, 1, 1})) << "a function that does not exist";
  EXPECT_FALSE(is_srgb(3, {2.4, 1})) << "cut off";
}

TEST(Icc, DamageYieldsOnlySomeName) {
  std::mt19937_64 random(3);
  const Bytes whole = matrix_profile(kSrgbPrimaries, srgb_table(64), localized_names({{"en", u"Display"}}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(profile_name(cut).empty()) << size << ": what is cut off is not known to be sRGB";
  }
  for (int i = 0; i < 20000; ++i) {
    Bytes bent = whole;
    for (int k = 0; k < 4; ++k) bent[random() % bent.size()] = static_cast<std::byte>(random());
    const std::string name = profile_name(bent);
    ASSERT_EQ(printable(name), name);
  }
}

}  // namespace
}  // namespace imgpipe::test::icc_test

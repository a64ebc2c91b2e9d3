#include "images/codecs/icc_transform.h"

#include <algorithm>

#include "images/codecs/icc_curves.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;

// The primaries of sRGB, adapted to D50, in 65536ths: the columns X, Y, Z of R, G and B that lcms2 computes
// and profiles store. They sum up to D50.
constexpr double kRed[3] = {28576, 14581, 912}, kGreen[3] = {25239, 46983, 6361},
                 kBlue[3] = {9375, 3972, 46787};

// Returns a x b.
constexpr std::array<double, 3> cross(const double (&a)[3], const double (&b)[3]) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

std::optional<double> grey_light(Bytes profile, double sample) {
  const std::optional<double> value = icc_curve_value(icc_tag(profile, "kTRC"), sample);
  if (!value || !matches_at(profile, 20, "Lab ")) return value;
  // The curve is of L*, as a fraction of 100 (CIE 15).
  const double l = 100 * std::clamp(*value, 0.0, 1.0), f = (l + 16) / 116;
  return l > 8 ? f * f * f : l * 27 / 24389;
}

bool is_matrix_profile(Bytes profile) {
  const auto has = [&](std::string_view tag) { return !icc_tag(profile, tag).empty(); };
  return has("rXYZ") && !has("A2B0") && !has("A2B1") && !has("A2B2") && !has("D2B0") && !has("D2B1") &&
         !has("D2B2");
}

std::optional<double> channel_light(Bytes profile, int channel, double sample) {
  constexpr std::array<std::string_view, 3> kTags{"rTRC", "gTRC", "bTRC"};
  return icc_curve_value(icc_tag(profile, kTags[static_cast<std::size_t>(channel)]), sample);
}

std::optional<ColorMatrix> matrix_to_srgb(Bytes profile) {
  constexpr std::array<std::string_view, 3> kTags{"rXYZ", "gXYZ", "bXYZ"};
  // The inverse of the primaries, by cofactors: whole numbers below 2^34, so these sums are exact.
  const std::array<std::array<double, 3>, 3> cofactors{cross(kGreen, kBlue), cross(kBlue, kRed),
                                                       cross(kRed, kGreen)};
  const double determinant =
      kRed[0] * cofactors[0][0] + kRed[1] * cofactors[0][1] + kRed[2] * cofactors[0][2];
  ColorMatrix matrix{};
  for (std::size_t c = 0; c < 3; ++c) {
    const Bytes tag = icc_tag(profile, kTags[c]);
    if (tag.size() < 20 || !matches_at(tag, 0, "XYZ ")) return std::nullopt;
    for (std::size_t row = 0; row < 3; ++row) {
      double sum = 0;
      for (std::size_t axis = 0; axis < 3; ++axis)
        sum += cofactors[row][axis] * (icc_number(tag, 8 + 4 * axis) * 65536);
      matrix[row][c] = sum / determinant;
    }
  }
  return matrix;
}

}  // namespace imgpipe

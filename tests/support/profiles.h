// ICC profiles made byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace imgpipe::test {

using ProfileTag = std::pair<std::string, std::vector<std::byte>>;

// The header's colour space has four letters, "RGB " or "GRAY".
[[nodiscard]] std::vector<std::byte> make_profile(std::string_view space,
                                                  const std::vector<ProfileTag>& tags);

// textDescriptionType (version 2).
[[nodiscard]] std::vector<std::byte> text_description(std::string_view text);
// multiLocalizedUnicodeType (version 4): languages such as "en", and names.
[[nodiscard]] std::vector<std::byte> localized_names(
    const std::vector<std::pair<std::string, std::u16string>>& names);
[[nodiscard]] std::vector<std::byte> xyz(const std::array<double, 3>& value);
// curveType with no entries (the identity), one (a gamma, in 1/256) or a table.
[[nodiscard]] std::vector<std::byte> curve(const std::vector<unsigned>& entries);
// parametricCurveType.
[[nodiscard]] std::vector<std::byte> parametric_curve(unsigned function,
                                                      const std::vector<double>& parameters);

using Primaries = std::array<std::array<double, 3>, 3>;
inline constexpr Primaries kSrgbPrimaries{{{0.4360747, 0.2225045, 0.0139322},
                                           {0.3850649, 0.7168786, 0.0971045},
                                           {0.1430804, 0.0606169, 0.7141733}}};
inline constexpr Primaries kAdobePrimaries{
    {{0.60974, 0.31111, 0.01947}, {0.20528, 0.62567, 0.06087}, {0.14919, 0.06322, 0.74457}}};

// A profile with three primaries and one curve for all.
[[nodiscard]] std::vector<std::byte> matrix_profile(const Primaries& primaries,
                                                    const std::vector<std::byte>& curve,
                                                    const std::vector<std::byte>& description);
// sRGB's curve in the form of version 4 profiles, and as a table.
[[nodiscard]] std::vector<std::byte> srgb_curve();
[[nodiscard]] std::vector<std::byte> srgb_table(std::size_t entries);
// "Adobe RGB (1998)", as embedded by cameras.
[[nodiscard]] std::vector<std::byte> adobe_profile();

}  // namespace imgpipe::test

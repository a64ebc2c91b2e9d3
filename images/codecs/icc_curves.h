// Numbers and curves in the tags of an ICC profile (ICC.1:2010, 10). All results are computed by operations
// that every processor rounds identically; no library's pow() guarantees that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace imgpipe {

inline constexpr std::uint32_t kMaxIccTags = 100;  // real profiles have 10 to 20

// Returns the data of a tag, truncated at the end of the profile; empty if the tag is missing.
[[nodiscard]] std::span<const std::byte> icc_tag(std::span<const std::byte> profile,
                                                 std::string_view signature);

// s15Fixed16Number.
[[nodiscard]] double icc_number(std::span<const std::byte> bytes, std::size_t at);

// Returns x^exponent for x >= 0, with a relative error below 1e-14.
[[nodiscard]] double exact_power(double x, double exponent);

// Returns the value of a curveType or parametricCurveType at x, 0..1, not clipped; nullopt if it is damaged
// or of another type.
[[nodiscard]] std::optional<double> icc_curve_value(std::span<const std::byte> tag, double x);

// The curve of sRGB (IEC 61966-2-1): linear light to samples, both 0..1.
[[nodiscard]] double srgb_encoded(double light);

}  // namespace imgpipe

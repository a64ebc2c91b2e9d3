// The colour transforms of ICC profiles to sRGB, as numbers for tables (pipeline/color_profiles.h). The
// functions expect a profile without a fault (profile_fault()).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

// Returns the linear light of a grey sample, both 0..1. nullopt: the profile has no valid grey curve.
[[nodiscard]] std::optional<double> grey_light(std::span<const std::byte> profile, double sample);

// Whether an RGB profile has curves and a matrix, and no tables, which take precedence.
[[nodiscard]] bool is_matrix_profile(std::span<const std::byte> profile);
// For a matrix profile: the linear light of a sample of channel 0..2, and the matrix from the profile's
// linear light to that of sRGB. nullopt: the profile is damaged.
[[nodiscard]] std::optional<double> channel_light(std::span<const std::byte> profile, int channel,
                                                  double sample);
using ColorMatrix = std::array<std::array<double, 3>, 3>;  // rows
[[nodiscard]] std::optional<ColorMatrix> matrix_to_srgb(std::span<const std::byte> profile);

// As ICC numbers them.
enum class RenderingIntent : std::uint8_t { perceptual = 0, relative = 1, saturation = 2 };

// Returns the 16-bit RGB samples of sRGB for a grid of `points` per channel of an RGB or CMYK profile; the
// last channel varies fastest. Evaluated by lcms2 without its optimisations; `relative` with black point
// compensation. Throws Error(input) if lcms2 rejects the profile, Error(usage) in a build without lcms2.
[[nodiscard]] std::vector<std::uint16_t> srgb_grid(std::span<const std::byte> profile, RenderingIntent intent,
                                                   int points);

// Returns "lcms2 2.14"; empty in a build without it.
[[nodiscard]] std::string lcms_version();

}  // namespace imgpipe

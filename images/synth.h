// Test images with known statistics: the same arguments give the same bytes on every machine (integers only).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "images/image.h"

namespace imgpipe {

struct PatternInfo {
  std::string_view name;      // as --pattern takes it, without the parameter
  std::string_view argument;  // "N", "T", "V" or empty
  std::string_view summary;
  int least, most;  // range of the parameter
  int max_16;       // largest parameter with 16 bits per sample
};

[[nodiscard]] std::span<const PatternInfo> pattern_table();

struct Pattern {
  const PatternInfo* info = nullptr;
  int parameter = 0;
};

// Parses "noise" or "colors:5" for samples of this type. Throws Error(usage) that lists the patterns.
[[nodiscard]] Pattern parse_pattern(std::string_view text, Sample sample = Sample::u8);

// Fills an image of `shape` (1 to 4 channels) with the pattern. With 8 bits per sample:
//   noise           every sample uniform over 0..255, independent
//   colors:N        N values spread evenly over 0..255, equally likely (N = 1: 0)
//   threshold:T     noise in which samples below T are 0
//   constant:V      every sample V
//   ramp            rises from left to right through 0..255; channels differ by a third of the range
//   checker         8x8-pixel squares of 0 and 255
//   photo           hills in haze, by fractal value noise (Perlin 1985): smooth areas, sharp edges, lit
//                   slopes, grain, a histogram with both ends unused; channels related but different
//   collision-free  no value repeats within 32 consecutive samples of a channel in raster order
// With 16 bits per sample: the same over 0..65535, with 16-bit parameters; `photo` has finer heights and
// grain, `collision-free` all 65,536 values. Throws Error(usage) for a 16-bit parameter in an 8-bit image.
//
// With 2 or 4 channels the last is alpha: y * max / max(1, height - 1) in row y, rounded down, for every
// pattern and seed. The other channels do not depend on it. Adding alpha takes a second image temporarily.
[[nodiscard]] Image synthesize(const Pattern& pattern, Shape shape, std::uint64_t seed);

}  // namespace imgpipe

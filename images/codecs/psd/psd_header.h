// The header and sections before the pixels of a Photoshop file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "images/codecs/codec_parts.h"
#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

enum class PsdMode : std::uint32_t { bitmap = 0, grey = 1, indexed = 2, rgb = 3, cmyk = 4, duotone = 8 };

// "File header section" and the position of the pixels.
struct Psd {
  bool big = false;  // PSB: sides up to 300,000 and wider length fields
  std::int64_t channels = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::uint32_t depth = 8;
  PsdMode mode = PsdMode::rgb;
  bool transparency = false;
  bool has_composite = true;
  Bytes palette;                                     // indexed: 256 reds, then greens, then blues
  int transparent_index = -1;                        // indexed: palette index; -1: none
  std::uint32_t x_resolution = 0, y_resolution = 0;  // pixels per inch times 65,536; 0: unknown
  Bytes profile;                                     // ICC
  Bytes resources;                                   // "Image resources section"
  std::size_t data = 0;                              // offset just past the compression field
  bool packed = false;
  std::int64_t row_bytes = 0;  // per channel, uncompressed

  // Duotone counts as grey: its inks are undocumented, and the specification says to read it as grey.
  [[nodiscard]] std::int64_t colors() const {
    return mode == PsdMode::rgb ? 3 : mode == PsdMode::cmyk ? 4 : 1;
  }
  [[nodiscard]] std::optional<Resolution> resolution() const {
    constexpr std::uint32_t kOne = 65'536;
    if (x_resolution == 0 || y_resolution == 0) return std::nullopt;
    return Resolution{x_resolution, kOne, y_resolution, kOne, Resolution::Unit::inch};
  }
};

// Throws Error(input) "psd: REASON" unless the condition holds.
void psd_require(bool condition, const char* reason);

// Throws Error(input) for damaged or unsupported files.
[[nodiscard]] Psd read_psd(Bytes file);

}  // namespace imgpipe

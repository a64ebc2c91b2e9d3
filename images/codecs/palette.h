// A palette with checked indices.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/error.h"

namespace imgpipe {

class Palette {
 public:
  using Color = std::array<Sample8, 4>;  // red, green, blue, alpha

  // `colors` for the indices from `first` on, written as 3 or 4 channels. `format`: prefix of error messages.
  Palette(std::string_view format, std::vector<Color> colors, std::uint32_t first, int channels, bool lenient)
      : format_(format), colors_(std::move(colors)), first_(first), channels_(channels), lenient_(lenient) {}

  // Writes the colour of an index. An index outside the palette is an Error(input), or mid-grey if lenient.
  void put(std::uint32_t index, Sample8* out) {
    const std::uint32_t entry = index - first_;  // wraps below `first`, and so is too large
    if (entry < colors_.size()) {
      for (int c = 0; c < channels_; ++c) out[c] = colors_[entry][static_cast<std::size_t>(c)];
      return;
    }
    if (!lenient_) throw Error(ErrorKind::input, format_ + ": a pixel's colour is not in the palette");
    fill_missing(out, 1, channels_);
    ++unknown_;
  }

  // The number of pixels with an index outside the palette.
  [[nodiscard]] std::int64_t unknown() const noexcept { return unknown_; }

 private:
  std::string format_;
  std::vector<Color> colors_;
  std::uint32_t first_;
  int channels_;
  bool lenient_;
  std::int64_t unknown_ = 0;
};

}  // namespace imgpipe

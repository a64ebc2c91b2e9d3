// Luma weights for vector code.
#pragma once

#include <cstdint>

#include "kernels/shared/luma.h"

namespace imgpipe {

// Returns the weights scaled to a shift of 16. From a shift of 15, this doubles every weight.
constexpr LumaWeights weights_of_16_bits(Luma luma) {
  const LumaWeights w = luma_weights(luma);
  const int more = 16 - w.shift;
  return {w.r << more, w.g << more, w.b << more, 16};
}

// Each weight is 256 high + low.
struct SplitWeights {
  std::uint16_t high[3], low[3];
};

constexpr SplitWeights split_weights(Luma luma) {
  const LumaWeights w = weights_of_16_bits(luma);
  const std::uint32_t all[3] = {w.r, w.g, w.b};
  SplitWeights split{};
  for (int i = 0; i < 3; ++i) {
    split.high[i] = static_cast<std::uint16_t>(all[i] >> 8);
    split.low[i] = static_cast<std::uint16_t>(all[i] & 0xFF);
  }
  return split;
}

// Returns true if neither sum of products with 8-bit samples can exceed 2^16.
constexpr bool fits(const SplitWeights& w) {
  return w.high[0] + w.high[1] + w.high[2] == 255 && w.low[0] + w.low[1] + w.low[2] == 256;
}
static_assert(fits(split_weights(Luma::bt601)) && fits(split_weights(Luma::bt709)) &&
              fits(split_weights(Luma::opencv)));

}  // namespace imgpipe

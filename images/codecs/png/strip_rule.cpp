#include "images/codecs/png/strip_rule.h"

#include "images/codecs/png/strip_repeats.h"

namespace imgpipe {

bool tries_matches(std::span<const std::uint8_t> strip, const StripBlock& block) {
  if (strip.size() < kAlwaysTried) return true;
  const std::size_t block_bytes = block.bytes(false);
  if (block_bytes * kAllRuns <= strip.size()) return false;
  constexpr std::uint64_t kOneOf[] = {4, 4, 12, 24, 48};  // by whole bits a byte
  const std::size_t bits_a_byte = 8 * block_bytes / strip.size();
  const std::uint64_t one_of = bits_a_byte < 5 ? kOneOf[bits_a_byte] : 256;
  for (const WindowPlace place : {WindowPlace::least_key, WindowPlace::first_byte}) {
    const StripRepeats repeats = find_repeats(strip, block.lengths(), place);
    if (repeats.repeated != 0 && repeats.repeated * one_of >= repeats.windows) return true;
  }
  return false;
}

}  // namespace imgpipe

#include "images/codecs/png/strip_rule.h"

namespace imgpipe {

bool tries_matches(std::span<const std::uint8_t> strip, const StripBlock& block) {
  const std::size_t block_bytes = block.bytes(false);
  const MatchRule rule = match_rule(strip.size(), block_bytes);
  if (rule != MatchRule::by_repeats) return rule == MatchRule::always;
  for (const WindowPlace place : {WindowPlace::least_key, WindowPlace::first_byte}) {
    if (repeats_suffice(find_repeats(strip, block.lengths(), place), strip.size(), block_bytes)) return true;
  }
  return false;
}

}  // namespace imgpipe

#include "images/codecs/png/strip_rule.h"

namespace imgpipe {

bool should_try_matches(std::span<const std::uint8_t> strip, const StripBlock& block) {
  const std::size_t block_bytes = block.bytes(false);
  const MatchRule rule = match_rule(strip.size(), block_bytes);
  if (rule != MatchRule::by_repeats) return rule == MatchRule::always;
  for (const WindowPosition position : {WindowPosition::min_key, WindowPosition::first_byte}) {
    if (has_enough_repeats(find_repeats(strip, block.lengths(), position), strip.size(), block_bytes))
      return true;
  }
  return false;
}

}  // namespace imgpipe

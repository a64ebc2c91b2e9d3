// Counts of tokens against a plain loop, on every instruction set: strips whose bytes are near 0, as filters
// make them, are counted differently from others.
#include "images/codecs/png/strip_tokens.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/simd.h"

namespace imgpipe::test::strip_tokens_test {
namespace {

using Symbols = std::array<std::uint32_t, kMaxHuffmanSymbols>;

Symbols counted_plainly(const std::vector<std::uint8_t>& strip) {
  Symbols symbols{};
  for (std::size_t at = 0; at < strip.size();) {
    std::size_t run = 0;  // bytes that equal the one before
    while (at + run + 1 < strip.size() && strip[at + run + 1] == strip[at]) ++run;
    std::size_t left = run;
    if (run >= kMinRun) {
      for (; left >= kMaxCopy; left -= kMaxCopy) ++symbols[length_symbol(kMaxCopy).symbol];
      if (left >= kMinCopy) {
        ++symbols[length_symbol(left).symbol];
        left = 0;
      }
    }
    symbols[strip[at]] += static_cast<std::uint32_t>(1 + left);
    at += run + 1;
  }
  return symbols;
}

TEST(StripTokens, CountsEqualThoseOfAPlainLoop) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const int near = std::array{0, 1, 2, 4, 5, 30}[random() % 6];
    const unsigned beyond = std::array{0U, 1U, 3U, 12U, 25U, 90U}[random() % 6];  // per cent
    std::vector<std::uint8_t> strip(random() % (i % 3 == 0 ? 300 : 20'000));
    for (std::uint8_t& byte : strip) {
      byte = static_cast<std::uint8_t>(random() % 100 < beyond
                                           ? random()
                                           : static_cast<unsigned>(near) -
                                                 random() % (2U * static_cast<unsigned>(near) + 1));
    }
    const Symbols expected = counted_plainly(strip);
    for (const std::string& target : simd_targets()) {
      use_simd(target);
      EXPECT_EQ(count_tokens(strip).symbols, expected) << target << ", " << i << ": " << strip.size();
    }
  }
  use_simd("");
}

}  // namespace
}  // namespace imgpipe::test::strip_tokens_test

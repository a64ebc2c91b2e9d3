// Compares the codes of deflate with optimal ones (images/codecs/png/huffman_code.h).
#include "images/codecs/png/huffman_code.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/sanitizers.h"

namespace imgpipe::test::huffman_code_test {
namespace {

// Returns the bits of an optimal code of at most `most` bits, by package-merge (Larmore, Hirschberg, 1990).
std::uint64_t best_bits(std::vector<std::uint32_t> counts, unsigned most) {
  std::erase(counts, 0U);
  std::sort(counts.begin(), counts.end());
  if (counts.size() == 1) return counts[0];
  struct Package {
    std::uint64_t weight;
    std::vector<std::uint16_t> leaves;
  };
  std::vector<Package> leaves;
  for (std::size_t i = 0; i < counts.size(); ++i)
    leaves.push_back({counts[i], {static_cast<std::uint16_t>(i)}});
  std::vector<Package> level = leaves;
  for (unsigned bits = 1; bits < most; ++bits) {
    std::vector<Package> next = leaves;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      Package joined = level[i];
      joined.weight += level[i + 1].weight;
      joined.leaves.insert(joined.leaves.end(), level[i + 1].leaves.begin(), level[i + 1].leaves.end());
      next.push_back(std::move(joined));
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const auto& a, const auto& b) { return a.weight < b.weight; });
    level = std::move(next);
  }
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 2 * counts.size() - 2; ++i) bits += level[i].weight;
  return bits;
}

std::uint64_t bits_of(std::span<const std::uint32_t> counts, std::span<const std::uint8_t> lengths) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) bits += std::uint64_t{counts[i]} * lengths[i];
  return bits;
}

std::vector<std::uint32_t> made_counts(int kind, std::size_t symbols, std::mt19937_64& random) {
  std::vector<std::uint32_t> counts(symbols);
  std::uint32_t before = 1, last = 1;
  for (std::size_t i = 0; i < symbols; ++i) {
    if (kind == 0) counts[i] = static_cast<std::uint32_t>(random() % 1000);
    if (kind == 1) counts[i] = static_cast<std::uint32_t>(1U << random() % 19);
    if (kind == 2) counts[i] = 7;
    if (kind == 3) counts[i] = random() % 4 == 0 ? static_cast<std::uint32_t>(random() % 3) : 0;
    if (kind == 4) {  // Fibonacci numbers: the deepest possible tree
      counts[i] = last;
      if (last < 500000) last = before + std::exchange(before, last);
    }
    if (kind == 5) counts[i] = 1 + static_cast<std::uint32_t>(300000.0 / (1.0 + static_cast<double>(i * i)));
  }
  return counts;
}

TEST(HuffmanCode, IsCompleteAndNearlyOptimal) {
  std::mt19937_64 random(1);
  int limited = 0;
  constexpr int kRounds = kSanitized ? 50 : 400;
  for (int i = 0; i < kRounds; ++i) {
    const unsigned most = i % 5 == 4 ? 7 : kMaxCodeBits;
    const std::size_t symbols = 1 + random() % (most == 7 ? 19 : kMaxHuffmanSymbols);
    const auto counts = made_counts(i % 6, symbols, random);
    std::vector<std::uint8_t> lengths(symbols, 99), free(symbols);
    huffman_lengths(counts, most, lengths);
    std::uint32_t used = 0, sum = 0;
    for (std::size_t s = 0; s < symbols; ++s) {
      ASSERT_EQ(lengths[s] == 0, counts[s] == 0) << i;
      ASSERT_LE(lengths[s], most);
      if (counts[s] == 0) continue;
      ++used;
      sum += 1U << (most - lengths[s]);
    }
    if (used == 0) continue;
    ASSERT_EQ(sum, used == 1 ? 1U << (most - 1) : 1U << most) << i;
    const std::uint64_t best = best_bits(counts, most);
    const std::uint64_t without_limit = best_bits(counts, 40);
    const std::uint64_t bits = bits_of(counts, lengths);
    if (best == without_limit) {
      ASSERT_EQ(bits, best) << i;
    } else {
      ++limited;
      ASSERT_GE(bits, best);
      // Measured: 0.11 % above the optimum at 15 bits; 11 % at 7, for descriptions of about 100 bytes.
      ASSERT_LE(static_cast<double>(bits), static_cast<double>(best) * (most == 7 ? 1.12 : 1.0015)) << i;
    }
  }
  EXPECT_GT(limited, kRounds / 20);
}

TEST(HuffmanCode, CodesFollowFromTheirLengths) {
  // RFC 1951, 3.2.2: lengths (3, 3, 3, 3, 3, 2, 4, 4) give 010 011 100 101 110 00 1110 1111.
  const std::array<std::uint8_t, 8> lengths{3, 3, 3, 3, 3, 2, 4, 4};
  std::array<std::uint16_t, 8> codes{};
  huffman_codes(lengths, codes);
  EXPECT_EQ(codes, (std::array<std::uint16_t, 8>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111}));
}

}  // namespace
}  // namespace imgpipe::test::huffman_code_test

// Makes prefix codes for deflate (RFC 1951, 3.2.2) from symbol counts, with integers only and a rule for
// every tie, so that every device makes the same codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace imgpipe {

constexpr std::size_t kMaxHuffmanSymbols = 286;
constexpr unsigned kMaxCodeBits = 15;

// Computes the length of each symbol's code: at most `max_bits`, 0 for a symbol that does not occur.
//   1. The leaves are the symbols that occur, sorted by count, then by number, ascending.
//   2. Huffman's tree: the two lightest nodes are joined until one is left. On equal weights a leaf comes
//      before a joined node, and joined nodes come in the order in which they were made.
//   3. Leaves deeper than `max_bits` count as `max_bits` deep. While the code is over-full (the sum of
//      2^-length exceeds 1), one of the deepest leaves above the last level moves down by one, and a leaf of
//      the last level becomes its sibling.
//   4. The leaves, in the order of step 1, get the lengths, longest first.
// A single symbol has one bit. The code is optimal unless a leaf is deeper than `max_bits`.
//   counts   at most kMaxHuffmanSymbols, their sum below 2^40
//   lengths  one for each of `counts`
void huffman_lengths(std::span<const std::uint32_t> counts, unsigned max_bits,
                     std::span<std::uint8_t> lengths);

// Computes the codes for such lengths, first bit lowest, as deflate packs them.
void huffman_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace imgpipe

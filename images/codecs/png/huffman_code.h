// Prefix codes of deflate (RFC 1951, 3.2.2) from how often each symbol occurs: by integers alone, with a rule
// for every tie, so that any device that follows it makes the same codes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace imgpipe {

constexpr std::size_t kMostHuffmanSymbols = 286;
constexpr unsigned kMostCodeBits = 15;

// The length of each symbol's code, 0 for a symbol that does not occur, `most_bits` at most:
//   1. The symbols that occur, by count and, of equal counts, by number, least first, are the leaves.
//   2. Huffman's tree: the two lightest nodes become one, until there is one. Of equal weights a leaf comes
//      before a joined node, and joined nodes in the order in which they were made.
//   3. Leaves deeper than `most_bits` are counted there. While the code is over-full (the sum of
//      2^-length above 1): of the leaves less deep than that, one of the deepest goes down by one, and a leaf
//      of the last level becomes its neighbour.
//   4. The lengths, longest first, are given to the leaves in the order of 1.
// A symbol alone has one bit. The codes are the shortest there are, where nothing is deeper than `most_bits`.
//   counts   at most kMostHuffmanSymbols, their sum below 2^40
//   lengths  as many
void huffman_lengths(std::span<const std::uint32_t> counts, unsigned most_bits,
                     std::span<std::uint8_t> lengths);

// The codes for such lengths, first bit lowest, as deflate packs them.
void huffman_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace imgpipe

#include "images/codecs/png/huffman_code.h"

#include <algorithm>

#include "images/codecs/png/huffman_tree.h"

namespace imgpipe {
namespace {

// Counts the leaves of the Huffman tree by depth; greater depths count as `most`. `weights`: at least two,
// ascending.
std::array<std::uint32_t, kMaxCodeBits + 1> leaves_by_depth(std::span<const std::uint64_t> weights,
                                                            std::size_t most) {
  const std::size_t leaves = weights.size();
  std::array<std::uint64_t, kMaxHuffmanSymbols> joined;
  std::array<std::uint16_t, 2 * kMaxHuffmanSymbols> parent;  // joined nodes follow the leaves
  join_nodes(weights.data(), static_cast<unsigned>(leaves), joined.data(), parent.data());
  std::array<std::uint16_t, 2 * kMaxHuffmanSymbols> depth;
  std::array<std::uint32_t, kMaxCodeBits + 1> count{};
  const std::size_t root = 2 * leaves - 2;
  depth[root] = 0;
  for (std::size_t node = root; node-- > 0;) {
    depth[node] = static_cast<std::uint16_t>(depth[parent[node]] + 1);
    if (node < leaves) ++count[std::min<std::size_t>(depth[node], most)];
  }
  return count;
}

}  // namespace

void huffman_lengths(std::span<const std::uint32_t> counts, unsigned max_bits,
                     std::span<std::uint8_t> lengths) {
  constexpr unsigned kSymbolBits = 16;
  std::array<std::uint64_t, kMaxHuffmanSymbols> order;  // sort keys: the count, then the symbol
  std::size_t leaves = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    lengths[symbol] = 0;
    if (counts[symbol] != 0) order[leaves++] = std::uint64_t{counts[symbol]} << kSymbolBits | symbol;
  }
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(leaves));
  const auto symbol_of = [&](std::size_t leaf) { return order[leaf] & ((1U << kSymbolBits) - 1); };
  if (leaves == 1) lengths[symbol_of(0)] = 1;
  if (leaves < 2) return;
  std::array<std::uint64_t, kMaxHuffmanSymbols> weights;
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) weights[leaf] = order[leaf] >> kSymbolBits;
  auto count = leaves_by_depth(std::span(weights).first(leaves), max_bits);
  mend_over_full(count.data(), max_bits);
  std::size_t leaf = 0;
  for (unsigned bits = max_bits; bits > 0; --bits) {
    for (std::uint32_t i = 0; i < count[bits]; ++i)
      lengths[symbol_of(leaf++)] = static_cast<std::uint8_t>(bits);
  }
}

void huffman_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes) {
  std::array<std::uint32_t, kMaxCodeBits + 2> next{};  // by length
  for (const std::uint8_t length : lengths) {
    if (length != 0) ++next[length + 1U];
  }
  for (std::size_t bits = 1; bits < next.size(); ++bits) next[bits] = (next[bits] + next[bits - 1]) << 1;
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    const unsigned length = lengths[symbol];
    if (length == 0) continue;
    std::uint32_t code = next[length]++;
    std::uint32_t turned = 0;
    for (unsigned bit = 0; bit < length; ++bit, code >>= 1) turned = turned << 1 | (code & 1);
    codes[symbol] = static_cast<std::uint16_t>(turned);
  }
}

}  // namespace imgpipe

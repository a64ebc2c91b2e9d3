// Counts and packs the tokens of a strip (strip_rule.h): literals, and runs as copies at distance 1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "images/codecs/png/bit_packer.h"
#include "images/codecs/png/huffman_code.h"
#include "images/host_device.h"

namespace imgpipe {

constexpr std::size_t kEndOfBlock = 256;

// Runs of at least this length become copies: shorter ones would save little and cost time.
constexpr std::size_t kMinRun = 16;
constexpr std::size_t kMinCopy = 3;
constexpr std::size_t kMaxCopy = 258;

// A length's symbol, 257..285, and its extra bits (RFC 1951, 3.2.5).
struct LengthSymbol {
  std::uint16_t symbol = 0;
  std::uint8_t extra_bits = 0;
  std::uint8_t extra = 0;
};
// `length`: 3..258.
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr LengthSymbol length_symbol(std::size_t length) {
  if (length == kMaxCopy) return {285, 0, 0};
  const auto beyond = static_cast<unsigned>(length - kMinCopy);
  // Four symbols for each power of two.
  unsigned bits = 0;
  while (beyond >> bits >= 8) ++bits;
  return {static_cast<std::uint16_t>(257 + 4 * bits + (beyond >> bits)), static_cast<std::uint8_t>(bits),
          static_cast<std::uint8_t>(beyond & ((1U << bits) - 1))};
}

struct StripCounts {
  std::array<std::uint32_t, kMaxHuffmanSymbols> symbols{};  // literals and lengths, without the end
  std::uint64_t copies = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t extra_bits = 0;  // of the lengths
};

[[nodiscard]] StripCounts count_tokens(std::span<const std::uint8_t> strip);

// Codes of literals and lengths for the packer. The low 8 bits of an entry are the length of its code; the
// code is above them.
using PackTable = std::array<std::uint32_t, kMaxHuffmanSymbols>;
// Working memory for the codes of all pairs of literals, used for strips of kMinPairStripBytes bytes or more.
using PairTable = std::array<std::uint32_t, 65536>;
constexpr std::size_t kMinPairStripBytes = std::size_t{1} << 17;

// Packs all tokens of the strip, without the end. The bytes are the same with and without `pairs`.
void pack_tokens(std::span<const std::uint8_t> strip, const PackTable& table, PairTable* pairs,
                 BitPacker& out);

}  // namespace imgpipe

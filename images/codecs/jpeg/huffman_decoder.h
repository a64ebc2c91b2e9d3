// Tables that decode a whole symbol at once: code, number of coefficients to skip and usually the value.
#pragma once

#include <array>
#include <cstdint>

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

// An entry of the lookup table, which is indexed by the next kLookupBits bits. It holds as many symbols as
// are whole in these bits: one value, or of AC coefficients also two, and an end-of-block code after them.
//   bits 63..48  the second value
//   bits 47..40  number of values, 0 to 2
//   bits 39..32  zigzag positions to advance by all symbols, plus kPastLastIndex if the block ends
//   bits 31..16  the first value; 0 for an end of block and for 16 zeros
//   bits 15..8   bits of all codes and values together; 0: more than kLookupBits, or not a code
//   bits 7..0    zigzag positions to advance to the first value
// If the code fits and its value does not, bits 15..8 are 0 and the value follows the code in the scan:
//   bits 31..24  bits of the value, 1 to 15
//   bits 23..16  bits of code and value together
// 0: no code of at most kLookupBits.
using HuffmanEntry = std::uint64_t;

inline constexpr int kLookupBits = 10;
// Positions past the last coefficient: end of block; invalid code.
inline constexpr int kPastLastIndex = 0x80, kInvalidCodeIndex = 0xC0;
inline constexpr int kLongestCode = 16;

[[nodiscard]] constexpr int bits_of(HuffmanEntry entry) {
  return static_cast<int>(entry >> 8 & 0xFF);
}
[[nodiscard]] constexpr int first_value_of(HuffmanEntry entry) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(entry)) >> 16;
}
[[nodiscard]] constexpr int values_in(HuffmanEntry entry) {
  return static_cast<int>(entry >> 40 & 0xFF);
}

struct HuffmanDecoder {
  std::array<HuffmanEntry, std::size_t{1} << kLookupBits> entries{};
  // For longer symbols, by code length: one more than the largest code, left-aligned in 16 bits (without
  // codes of that length, the previous entry), and the index of the first symbol minus the first code.
  std::array<std::uint32_t, kLongestCode + 1> ends{};
  std::array<std::int32_t, kLongestCode + 1> first_symbols{};
  std::array<std::uint8_t, 256> symbols{};
  // The fewest bits of any symbol, and of one with a value; for memory bounds.
  int min_bits = 1, min_value_bits = 2;
  int end_bits = 0;  // AC: length of the end-of-block code; 0: none
};

enum class HuffmanKind { dc, ac };

struct HuffmanSymbol {
  int skip = 0;  // zigzag positions to advance
  int size = 0;  // bits of the value that follows the code
};

[[nodiscard]] constexpr HuffmanSymbol symbol_of(unsigned symbol, HuffmanKind kind) {
  if (kind == HuffmanKind::dc) return {0, static_cast<int>(symbol)};
  const int run = static_cast<int>(symbol >> 4);
  const int size = static_cast<int>(symbol & 15);
  if (size > 0) return {run + 1, size};
  // As in libjpeg, every other symbol without a value ends the block.
  return {run == 15 ? 16 : kPastLastIndex, 0};
}

// `upper`: bits 31..16; `bits`: bits 15..8.
[[nodiscard]] constexpr HuffmanEntry entry_of(const HuffmanSymbol& symbol, int upper, int bits) {
  const auto skip = static_cast<HuffmanEntry>(symbol.skip);
  const HuffmanEntry values = symbol.size > 0 ? 1 : 0;
  return values << 40 | skip << 32 | HuffmanEntry{static_cast<std::uint32_t>(upper) << 16} |
         static_cast<HuffmanEntry>(bits) << 8 | skip;
}

// Makes the tables (T.81, annex C and F.2.2). Returns false for codes that libjpeg refuses.
[[nodiscard]] bool make_huffman_decoder(const HuffmanCodes& codes, HuffmanKind kind, HuffmanDecoder& decoder);

// Returns the signed value encoded by `size` bits (T.81, F.2.2.1: EXTEND); `size` is 1 to 16.
[[nodiscard]] constexpr int extended_value(std::uint32_t bits, int size) {
  const int value = static_cast<int>(bits);
  return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

}  // namespace imgpipe

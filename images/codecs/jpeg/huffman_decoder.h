// Tables that give of the next bits of a scan a whole symbol at once: its code, how many coefficients it
// skips, and mostly its value too.
#pragma once

#include <array>
#include <cstdint>

#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

// What kLookupBits bits begin with:
//
//   bits 31..16  the value; 0: none, at the end of a block and of 16 zeros
//   bits 15..8   how far the place in zigzag order goes on; kPastLastPlace at the end of a block
//   bit 6        the block ends behind the value: the code that says so is counted in
//   bits 5..0    bits of code and value together; 0: they are more than kLookupBits, or no code
using HuffmanEntry = std::uint32_t;

inline constexpr int kLookupBits = 10;
inline constexpr std::uint32_t kEntryBits = 0x3F;
inline constexpr std::uint32_t kEntryEnds = 0x40;
// Places behind the last one: the block has ended; no code.
inline constexpr int kPastLastPlace = 0x80, kDamagedPlace = 0xC0;
inline constexpr int kLongestCode = 16;

struct HuffmanDecoder {
  std::array<HuffmanEntry, std::size_t{1} << kLookupBits> entries{};
  // For what takes more bits: by length of code, one more than its largest code, shifted up to 16 bits (of a
  // length without codes: as of the one before), and where its symbols begin, less its first code.
  std::array<std::uint32_t, kLongestCode + 1> ends{};
  std::array<std::int32_t, kLongestCode + 1> first_symbols{};
  std::array<std::uint8_t, 256> symbols{};
  // The fewest bits that a symbol takes, and one with a value. For bounds of memory.
  int least_bits = 1, least_value_bits = 2;
  int end_bits = 0;  // AC: of the code for the end of a block; 0: there is none
};

enum class HuffmanKind { dc, ac };

// Makes the tables (T.81, annex C and F.2.2). False for codes that libjpeg refuses: more than fit into their
// lengths, or a symbol that cannot be.
[[nodiscard]] bool make_huffman_decoder(const HuffmanCodes& codes, HuffmanKind kind, HuffmanDecoder& decoder);

// The value that `size` bits stand for (T.81, F.2.2.1: EXTEND); size 1..16.
[[nodiscard]] constexpr int extended_value(std::uint32_t bits, int size) {
  const int value = static_cast<int>(bits);
  return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

}  // namespace imgpipe

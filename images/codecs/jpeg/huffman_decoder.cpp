#include "images/codecs/jpeg/huffman_decoder.h"

#include <algorithm>

namespace imgpipe {
namespace {

constexpr int kMaxDcSize = 15;  // libjpeg's limit

// Fills all entries that begin with this code, for any value after it if both fit.
void fill_entries(std::uint32_t code, int length, const HuffmanSymbol& symbol, HuffmanDecoder& decoder) {
  const int bits = length + symbol.size;
  HuffmanEntry* out = decoder.entries.data() + (std::size_t{code} << (kLookupBits - length));
  if (bits > kLookupBits) {
    std::fill_n(out, std::size_t{1} << (kLookupBits - length), entry_of(symbol, symbol.size << 8 | bits, 0));
    return;
  }
  const int free_bits = kLookupBits - bits;
  for (std::uint32_t value = 0; value < 1U << symbol.size; ++value) {
    const int extended = symbol.size == 0 ? 0 : extended_value(value, symbol.size);
    out = std::fill_n(out, std::size_t{1} << free_bits, entry_of(symbol, extended, bits));
  }
}

// Adds to each AC entry with a value the second value and the end of the block that follow it, if they fit.
void join_symbols(HuffmanDecoder& decoder) {
  constexpr HuffmanEntry kSums = 0x0000'FFFF'0000'FF00;  // number of values, positions to advance, bits
  const auto single = decoder.entries;
  for (std::size_t i = 0; i < single.size(); ++i) {
    HuffmanEntry& entry = decoder.entries[i];
    if (bits_of(entry) == 0 || values_in(entry) == 0) continue;
    // Bits past the index read as zeros: a symbol must not extend into them.
    const auto next = [&] {
      const HuffmanEntry found = single[(i << bits_of(entry)) % single.size()];
      const int bits = bits_of(found);
      return bits > 0 && bits_of(entry) + bits <= kLookupBits ? found : 0;
    };
    HuffmanEntry after = next();
    if (values_in(after) == 1) {
      entry += after & kSums;
      entry |= HuffmanEntry{static_cast<std::uint16_t>(first_value_of(after))} << 48;
      after = next();
    }
    const bool ends = (after >> 32 & 0xFF) == kPastLastIndex && bits_of(after) == decoder.end_bits;
    if (ends) entry += after & kSums;
  }
}

}  // namespace

bool make_huffman_decoder(const HuffmanCodes& codes, HuffmanKind kind, HuffmanDecoder& decoder) {
  decoder.entries.fill(0);
  decoder.symbols = codes.symbols;
  decoder.min_bits = decoder.min_value_bits = 2 * kLongestCode;
  decoder.end_bits = 0;
  std::uint32_t code = 0;
  std::size_t next = 0;
  for (int length = 1; length <= kLongestCode; ++length, code <<= 1) {
    const std::size_t count = codes.counts[static_cast<std::size_t>(length)];
    // No code consists of ones only.
    if (next + count > codes.symbols.size() || (count > 0 && code + count >= std::uint32_t{1} << length))
      return false;
    decoder.first_symbols[static_cast<std::size_t>(length)] =
        static_cast<std::int32_t>(next) - static_cast<std::int32_t>(code);
    for (std::size_t i = 0; i < count; ++i, ++code, ++next) {
      if (kind == HuffmanKind::dc && codes.symbols[next] > kMaxDcSize) return false;
      const HuffmanSymbol symbol = symbol_of(codes.symbols[next], kind);
      if (codes.symbols[next] == 0) decoder.end_bits = length;
      decoder.min_bits = std::min(decoder.min_bits, length + symbol.size);
      if (symbol.size > 0) decoder.min_value_bits = std::min(decoder.min_value_bits, length + symbol.size);
      if (length <= kLookupBits) fill_entries(code, length, symbol, decoder);
    }
    decoder.ends[static_cast<std::size_t>(length)] = code << (kLongestCode - length);
  }
  if (kind == HuffmanKind::ac) join_symbols(decoder);
  return true;
}

}  // namespace imgpipe

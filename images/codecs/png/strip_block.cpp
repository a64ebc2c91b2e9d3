#include "images/codecs/png/strip_block.h"

#include <algorithm>
#include <cstring>

namespace imgpipe {
namespace {

constexpr unsigned kMostLengthCodeBits = 7;
// The order in which the lengths of their codes are written (RFC 1951, 3.2.7).
constexpr std::uint8_t kCodeOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
constexpr std::size_t kMostStored = 65535;
constexpr std::size_t kStoredHeader = 5;
// An empty stored block without its first three bits and the zeros behind them.
constexpr std::uint64_t kFlush = 0xFFFF0000;
constexpr std::size_t kFlushBytes = 4;

}  // namespace

StripBlock::StripBlock(const StripCounts& counts) {
  auto symbols = counts.symbols;
  symbols[kEndOfBlock] = 1;
  huffman_lengths(symbols, kMostCodeBits, lengths_);
  literal_codes_ = kMostHuffmanSymbols;
  while (lengths_[literal_codes_ - 1] == 0) --literal_codes_;
  bits_ = 3 + 5 + 5 + 4;
  code_lengths();
  for (std::size_t symbol = 0; symbol < literal_codes_; ++symbol)
    bits_ += std::uint64_t{symbols[symbol]} * lengths_[symbol];
  bits_ += counts.extra_bits + counts.copies;
}

void StripBlock::add_coded(std::size_t symbol, unsigned extra_bits, std::size_t extra) {
  coded_[coded_count_++] = {static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(extra_bits),
                            static_cast<std::uint8_t>(extra)};
}

void StripBlock::code_lengths() {
  std::array<std::uint8_t, kMostHuffmanSymbols + 1> all;
  std::copy_n(lengths_.begin(), literal_codes_, all.begin());
  all[literal_codes_] = 1;  // of the one distance
  const std::size_t count = literal_codes_ + 1;
  for (std::size_t i = 0; i < count;) {
    const std::uint8_t length = all[i];
    std::size_t left = 1;
    while (i + left < count && all[i + left] == length) ++left;
    i += left;
    if (length == 0) {
      for (; left >= 11; left -= std::min<std::size_t>(left, 138))
        add_coded(18, 7, std::min<std::size_t>(left, 138) - 11);
      if (left >= 3) {
        add_coded(17, 3, left - 3);
        left = 0;
      }
    } else {
      add_coded(length);
      for (--left; left >= 3; left -= std::min<std::size_t>(left, 6))
        add_coded(16, 2, std::min<std::size_t>(left, 6) - 3);
    }
    for (; left > 0; --left) add_coded(length);
  }
  std::array<std::uint32_t, kLengthCodes> counts{};
  for (std::size_t i = 0; i < coded_count_; ++i) ++counts[coded_[i].symbol];
  // Two or more symbols always: 257 lengths and more cannot all be the same.
  huffman_lengths(counts, kMostLengthCodeBits, code_lengths_);
  code_lengths_written_ = kLengthCodes;
  while (code_lengths_[kCodeOrder[code_lengths_written_ - 1]] == 0) --code_lengths_written_;
  bits_ += 3 * code_lengths_written_;
  for (std::size_t i = 0; i < coded_count_; ++i)
    bits_ += code_lengths_[coded_[i].symbol] + std::uint64_t{coded_[i].extra_bits};
}

std::size_t StripBlock::bytes(bool last) const {
  return static_cast<std::size_t>(last ? (bits_ + 7) / 8 : (bits_ + 3 + 7) / 8 + kFlushBytes);
}

void StripBlock::write(std::span<const std::uint8_t> strip, bool last, PairTable* pairs,
                       std::uint8_t* out) const {
  BitPacker packer(out);
  packer.put(last ? 1 : 0, 1);
  packer.put(2, 2);  // dynamic codes
  packer.put(literal_codes_ - 257, 5);
  packer.put(0, 5);
  packer.put_now(code_lengths_written_ - 4, 4);
  for (std::size_t i = 0; i < code_lengths_written_; ++i) packer.put_now(code_lengths_[kCodeOrder[i]], 3);
  std::array<std::uint16_t, kLengthCodes> length_codes{};
  huffman_codes(code_lengths_, length_codes);
  for (const Coded& coded : std::span(coded_).first(coded_count_)) {
    packer.put(length_codes[coded.symbol], code_lengths_[coded.symbol]);
    packer.put_now(coded.extra, coded.extra_bits);
  }
  std::array<std::uint16_t, kMostHuffmanSymbols> codes{};
  huffman_codes(lengths_, codes);
  PackTable table;
  for (std::size_t symbol = 0; symbol < table.size(); ++symbol)
    table[symbol] = std::uint32_t{codes[symbol]} << 8 | lengths_[symbol];
  pack_tokens(strip, table, pairs, packer);
  packer.put_now(codes[kEndOfBlock], lengths_[kEndOfBlock]);
  if (!last) packer.put_now(0, 3);
  std::uint8_t* end = packer.fill_byte();
  if (!last) std::memcpy(end, &kFlush, kFlushBytes);
}

std::size_t stored_bytes(std::size_t strip_bytes) {
  return strip_bytes +
         kStoredHeader * std::max<std::size_t>(1, (strip_bytes + kMostStored - 1) / kMostStored);
}

void write_stored(std::span<const std::uint8_t> strip, bool last, std::uint8_t* out) {
  do {
    const auto piece = strip.first(std::min(strip.size(), kMostStored));
    strip = strip.subspan(piece.size());
    const unsigned length = static_cast<unsigned>(piece.size());
    const unsigned other = ~length;
    *out++ = last && strip.empty() ? 1 : 0;
    for (const unsigned number : {length, other}) {
      *out++ = static_cast<std::uint8_t>(number);
      *out++ = static_cast<std::uint8_t>(number >> 8);
    }
    out = std::copy(piece.begin(), piece.end(), out);
  } while (!strip.empty());
}

}  // namespace imgpipe

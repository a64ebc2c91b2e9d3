#include "images/codecs/png/strip_block.h"

#include <algorithm>
#include <cstring>

#include "images/codecs/png/huffman_tree.h"

namespace imgpipe {
namespace {

// An empty stored block, without its first three bits and the zeros after them.
constexpr std::uint64_t kFlush = 0xFFFF0000;

}  // namespace

StripBlock::StripBlock(const StripCounts& counts) {
  auto symbols = counts.symbols;
  symbols[kEndOfBlock] = 1;
  huffman_lengths(symbols, kMaxCodeBits, lengths_);
  literal_codes_ = kMaxHuffmanSymbols;
  while (lengths_[literal_codes_ - 1] == 0) --literal_codes_;
  bits_ = 3 + 5 + 5 + 4;
  describe_lengths();
  for (std::size_t symbol = 0; symbol < literal_codes_; ++symbol)
    bits_ += std::uint64_t{symbols[symbol]} * lengths_[symbol];
  bits_ += counts.extra_bits + counts.copies;
}

void StripBlock::describe_lengths() {
  std::array<std::uint8_t, kMaxHuffmanSymbols + 1> all;
  std::copy_n(lengths_.begin(), literal_codes_, all.begin());
  all[literal_codes_] = 1;  // the only distance code
  code_lengths(all.data(), static_cast<unsigned>(literal_codes_ + 1),
               [this](unsigned symbol, unsigned extra_bits, unsigned extra) {
                 coded_[coded_count_++] = {static_cast<std::uint8_t>(symbol),
                                           static_cast<std::uint8_t>(extra_bits),
                                           static_cast<std::uint8_t>(extra)};
               });
  std::array<std::uint32_t, kLengthCodes> counts{};
  for (std::size_t i = 0; i < coded_count_; ++i) ++counts[coded_[i].symbol];
  // Always at least two symbols: 257 or more lengths cannot all be equal.
  huffman_lengths(counts, kMaxLengthCodeBits, code_lengths_);
  code_lengths_written_ = kLengthCodes;
  while (code_lengths_[code_order(code_lengths_written_ - 1)] == 0) --code_lengths_written_;
  bits_ += std::uint64_t{3} * code_lengths_written_;
  for (std::size_t i = 0; i < coded_count_; ++i)
    bits_ += code_lengths_[coded_[i].symbol] + std::uint64_t{coded_[i].extra_bits};
}

std::size_t StripBlock::bytes(bool last) const {
  return static_cast<std::size_t>(block_bytes(bits_, last));
}

void StripBlock::write(std::span<const std::uint8_t> strip, bool last, PairTable* pairs,
                       std::uint8_t* out) const {
  BitPacker packer(out);
  packer.put(last ? 1 : 0, 1);
  packer.put(2, 2);  // dynamic codes
  packer.put(literal_codes_ - 257, 5);
  packer.put(0, 5);
  packer.put_now(code_lengths_written_ - 4, 4);
  for (unsigned i = 0; i < code_lengths_written_; ++i) packer.put_now(code_lengths_[code_order(i)], 3);
  std::array<std::uint16_t, kLengthCodes> length_codes{};
  huffman_codes(code_lengths_, length_codes);
  for (const Coded& coded : std::span(coded_).first(coded_count_)) {
    packer.put(length_codes[coded.symbol], code_lengths_[coded.symbol]);
    packer.put_now(coded.extra, coded.extra_bits);
  }
  std::array<std::uint16_t, kMaxHuffmanSymbols> codes{};
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

void write_stored(std::span<const std::uint8_t> strip, bool last, std::uint8_t* out) {
  do {
    const auto chunk = strip.first(std::min(strip.size(), kMaxStoredBytes));
    strip = strip.subspan(chunk.size());
    const unsigned length = static_cast<unsigned>(chunk.size());
    const unsigned other = ~length;
    *out++ = last && strip.empty() ? 1 : 0;
    for (const unsigned number : {length, other}) {
      *out++ = static_cast<std::uint8_t>(number);
      *out++ = static_cast<std::uint8_t>(number >> 8);
    }
    out = std::copy(chunk.begin(), chunk.end(), out);
  } while (!strip.empty());
}

}  // namespace imgpipe

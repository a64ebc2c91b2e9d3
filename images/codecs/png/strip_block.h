// A strip as one block of deflate without matches: its codes, its header, its size before it is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "images/codecs/png/huffman_code.h"
#include "images/codecs/png/strip_tokens.h"

namespace imgpipe {

class StripBlock {
 public:
  explicit StripBlock(const StripCounts& counts);

  // With the end: of the stream for the last strip, else of a full flush.
  [[nodiscard]] std::size_t bytes(bool last) const;

  // Writes that many bytes, and up to kSlack more, to `out`. `pairs`: room to work in, or nullptr.
  void write(std::span<const std::uint8_t> strip, bool last, PairTable* pairs, std::uint8_t* out) const;
  static constexpr std::size_t kSlack = 8;

  // The lengths of the codes of literals, lengths and the end.
  [[nodiscard]] std::span<const std::uint8_t> lengths() const { return lengths_; }

 private:
  static constexpr std::size_t kLengthCodes = 19;
  // One symbol of the coded lengths, with what stands behind it.
  struct Coded {
    std::uint8_t symbol;
    std::uint8_t extra_bits;
    std::uint8_t extra;
  };

  void code_lengths();
  void add_coded(std::size_t symbol, unsigned extra_bits = 0, std::size_t extra = 0);

  std::array<std::uint8_t, kMostHuffmanSymbols> lengths_{};
  std::size_t literal_codes_ = 0;  // HLIT + 257
  std::array<Coded, kMostHuffmanSymbols + 1> coded_;
  std::size_t coded_count_ = 0;
  std::array<std::uint8_t, kLengthCodes> code_lengths_{};
  std::size_t code_lengths_written_ = 0;  // HCLEN + 4
  std::uint64_t bits_ = 0;
};

// As stored blocks (RFC 1951, 3.2.4), which end on a byte without more.
[[nodiscard]] std::size_t stored_bytes(std::size_t strip_bytes);
void write_stored(std::span<const std::uint8_t> strip, bool last, std::uint8_t* out);

}  // namespace imgpipe

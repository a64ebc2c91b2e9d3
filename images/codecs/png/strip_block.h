// A strip as one deflate block without matches: its codes, its header, and its size before it is written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "images/codecs/png/huffman_code.h"
#include "images/codecs/png/strip_tokens.h"
#include "images/host_device.h"

namespace imgpipe {

// The code lengths of literals and lengths are coded themselves (RFC 1951, 3.2.7).
constexpr unsigned kLengthCodes = 19;
constexpr unsigned kMaxLengthCodeBits = 7;
// Returns the symbol whose code length is written as number i.
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr unsigned code_order(unsigned i) {
  constexpr std::uint8_t kOrder[kLengthCodes] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                 11, 4,  12, 3, 13, 2, 14, 1, 15};
  return kOrder[i];
}

constexpr std::size_t kMaxStoredBytes = 65535;
constexpr std::size_t kStoredHeader = 5;

// Returns the size in bytes of a block of `bits` bits and its end. The last strip ends the stream, padded to
// a byte; others end with a full flush: 3 zero bits, zeros up to a byte, and kFlushBytes.
constexpr std::size_t kFlushBytes = 4;
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint64_t block_bytes(std::uint64_t bits, bool last) {
  return last ? (bits + 7) / 8 : (bits + 3 + 7) / 8 + kFlushBytes;
}

class StripBlock {
 public:
  explicit StripBlock(const StripCounts& counts);

  // Returns block_bytes() of this block.
  [[nodiscard]] std::size_t bytes(bool last) const;

  // Writes bytes(last) bytes to `out`, and up to kSlack more. `pairs`: working memory, or nullptr.
  void write(std::span<const std::uint8_t> strip, bool last, PairTable* pairs, std::uint8_t* out) const;
  static constexpr std::size_t kSlack = 8;

  // The code lengths of literals, lengths and the end of the block.
  [[nodiscard]] std::span<const std::uint8_t> lengths() const { return lengths_; }

 private:
  // One symbol of the coded lengths, with its extra bits.
  struct Coded {
    std::uint8_t symbol;
    std::uint8_t extra_bits;
    std::uint8_t extra;
  };

  void describe_lengths();

  std::array<std::uint8_t, kMaxHuffmanSymbols> lengths_{};
  std::size_t literal_codes_ = 0;  // HLIT + 257
  std::array<Coded, kMaxHuffmanSymbols + 1> coded_;
  std::size_t coded_count_ = 0;
  std::array<std::uint8_t, kLengthCodes> code_lengths_{};
  unsigned code_lengths_written_ = 0;  // HCLEN + 4
  std::uint64_t bits_ = 0;
};

// Returns the size of a strip as stored blocks (RFC 1951, 3.2.4), which end on a byte boundary.
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::size_t stored_bytes(std::size_t strip_bytes) {
  const std::size_t blocks = (strip_bytes + kMaxStoredBytes - 1) / kMaxStoredBytes;
  return strip_bytes + kStoredHeader * (blocks == 0 ? 1 : blocks);
}
void write_stored(std::span<const std::uint8_t> strip, bool last, std::uint8_t* out);

}  // namespace imgpipe

// Bits into bytes as deflate has them: the first bit lowest (RFC 1951, 3.1.1).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace imgpipe {

// Writes whole words: up to 8 bytes beyond the last bit are overwritten.
class BitPacker {
 public:
  // What may be put between two flushes.
  static constexpr unsigned kMostAtOnce = 56;

  explicit BitPacker(std::uint8_t* out) : out_(out) {}

  void put(std::uint64_t value, unsigned bits) {
    word_ |= value << (held_ & 63);
    held_ += bits;
  }
  // Leaves fewer than 8 bits in hand.
  void flush() {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(out_, &word_, sizeof(word_));
    out_ += held_ / 8;
    word_ >>= held_ & 56;
    held_ &= 7;
  }
  void put_now(std::uint64_t value, unsigned bits) {
    put(value, bits);
    flush();
  }
  // Zeros up to a byte; returns where the next one goes.
  std::uint8_t* fill_byte() {
    held_ = (held_ + 7) & ~7U;
    flush();
    return out_;
  }

 private:
  std::uint8_t* out_;
  std::uint64_t word_ = 0;
  unsigned held_ = 0;
};

}  // namespace imgpipe

// Packs bits into bytes as deflate does, from the lowest bit up (RFC 1951, 3.1.1).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace imgpipe {

// Writes whole words: overwrites up to 8 bytes after the last bit.
class BitPacker {
 public:
  // The most bits between two flushes.
  static constexpr unsigned kMaxAtOnce = 56;

  explicit BitPacker(std::uint8_t* out) : out_(out) {}

  void put(std::uint64_t value, unsigned bits) {
    word_ |= value << (held_ & 63);
    held_ += bits;
  }
  // Leaves fewer than 8 bits pending.
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
  // Pads with zeros to a byte; returns the next byte's position.
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

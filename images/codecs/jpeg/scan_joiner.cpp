#include "images/codecs/jpeg/scan_joiner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace imgpipe {
namespace {

constexpr std::byte kStuffed{0xFF};

// Bytes of a scan, with and without the zeros that follow each 0xFF. The scan must end with a complete pair.
std::int64_t unstuffed_bytes(std::span<const std::byte> scan) {
  return std::ssize(scan) - std::ranges::count(scan, kStuffed);
}

struct BitCounter {
  std::int64_t bits = 0;
  void put(std::uint32_t, int count) { bits += count; }
};

// The number of ones at the end.
struct TrailingOnes {
  int ones = 0;
  void put(std::uint32_t value, int count) {
    const int here = std::min(std::countr_one(value), count);
    ones = here == count ? ones + count : here;
  }
};

int trailing_ones(std::span<const std::byte> scan) {
  int ones = 0;
  for (std::size_t end = scan.size(); end > 0; --end) {
    const bool is_stuffing = end > 1 && scan[end - 2] == kStuffed;
    if (is_stuffing) --end;
    const int here = std::countr_one(std::to_integer<std::uint8_t>(scan[end - 1]));
    ones += here;
    if (here < 8) break;
  }
  return ones;
}

bool holds_stuffed(std::uint64_t word) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 255;
  return ((~word - kOnes) & word & (kOnes << 7)) != 0;  // a byte of ~word is 0
}

// All bytes may be stuffed. The first MCU may grow with its DC differences.
std::int64_t max_joined_bytes(std::int64_t unstuffed) {
  constexpr std::int64_t kMaxGrowth = 18;  // three differences of up to 20 bits, and padding
  return 2 * (unstuffed + kMaxGrowth + std::int64_t{sizeof(std::uint64_t)});
}

std::uint64_t load_big_endian(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

void store_big_endian(std::byte* to, std::uint64_t word) {
  if (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  std::memcpy(to, &word, sizeof word);
}

}  // namespace

std::int64_t ScanJoiner::working_bytes(std::int64_t max_scan_bytes) {
  return max_joined_bytes(max_scan_bytes / 2);
}

// Writes bits with stuffing to memory that suffices for them.
class ScanJoiner::StuffedBits {
 public:
  StuffedBits(std::byte* to, std::uint64_t rest, int rest_bits)
      : to_(to), rest_(rest), rest_bits_(rest_bits) {}

  // `count`: 1 to 32; higher bits of `value` must be 0.
  void put(std::uint32_t value, int count) {
    rest_ |= std::uint64_t{value} << (64 - rest_bits_ - count);
    rest_bits_ += count;
    for (; rest_bits_ >= 8; rest_bits_ -= 8, rest_ <<= 8) put_byte(static_cast<std::byte>(rest_ >> 56));
  }
  void put_word(std::uint64_t word) {
    const std::uint64_t full = rest_ | word >> rest_bits_;
    if (holds_stuffed(full)) {
      for (int shift = 56; shift >= 0; shift -= 8) put_byte(static_cast<std::byte>(full >> shift));
    } else {
      store_big_endian(to_, full);
      to_ += 8;
    }
    rest_ = rest_bits_ == 0 ? 0 : word << (64 - rest_bits_);
  }

  [[nodiscard]] std::byte* end() const { return to_; }
  [[nodiscard]] std::uint64_t rest() const { return rest_; }
  [[nodiscard]] int rest_bits() const { return rest_bits_; }

 private:
  void put_byte(std::byte byte) {
    *to_++ = byte;
    if (byte == kStuffed) *to_++ = std::byte{0};
  }

  std::byte* to_;
  std::uint64_t rest_;  // below 8 bits, from the highest on
  int rest_bits_;
};

std::vector<std::byte> ScanJoiner::add(const StripEnds& ends, std::span<const std::byte> scan) {
  LastDc none{}, last_dc{};
  BitCounter alone;
  code_mcu(ends.first, blocks_in_mcu_, none, alone);
  TrailingOnes ones;  // those of the last code, which is not one of a DC difference
  code_mcu(ends.last, blocks_in_mcu_, last_dc, ones);
  const std::int64_t padding = trailing_ones(scan) - ones.ones;
  const std::int64_t bytes = unstuffed_bytes(scan);
  std::int64_t left = 8 * bytes - padding - alone.bits;

  const auto needed = static_cast<std::size_t>(max_joined_bytes(bytes));
  if (joined_.size() < needed) joined_.resize(needed);
  StuffedBits writer(joined_.data(), rest_, rest_bits_);
  code_mcu(ends.first, blocks_in_mcu_, dc_, writer);

  // The bits after the first MCU.
  const std::byte* from = scan.data();
  const std::byte* const end = from + scan.size();
  const auto next = [&] {
    const auto byte = std::to_integer<std::uint32_t>(*from);
    from += *from == kStuffed ? 2 : 1;
    return byte;
  };
  std::int64_t skipped = alone.bits;
  for (; skipped >= 8; skipped -= 8) (void)next();
  const auto put_part = [&](std::uint32_t value, std::int64_t count) {
    // The last bits of the strip may be fewer than the byte's.
    const std::int64_t taken = std::min(count, left);
    if (taken > 0) writer.put(value >> (count - taken), static_cast<int>(taken));
    left -= taken;
  };
  if (skipped > 0) put_part(next() & (0xFFU >> skipped), 8 - skipped);
  while (left >= 64) {
    if (const std::uint64_t word = end - from >= 8 ? load_big_endian(from) : ~std::uint64_t{0};
        !holds_stuffed(word)) {
      writer.put_word(word);
      from += 8;
    } else {
      std::uint64_t joined = 0;
      for (int i = 0; i < 8; ++i) joined = joined << 8 | next();
      writer.put_word(joined);
    }
    left -= 64;
  }
  while (left > 0) put_part(next(), 8);
  rest_ = writer.rest();
  rest_bits_ = writer.rest_bits();
  dc_ = last_dc;
  return {joined_.data(), writer.end()};
}

std::vector<std::byte> ScanJoiner::finish() {
  std::vector<std::byte> bytes;
  if (rest_bits_ > 0) {
    const auto last = static_cast<std::byte>(rest_ >> 56 | 0xFFU >> rest_bits_);
    bytes.push_back(last);
    if (last == kStuffed) bytes.push_back(std::byte{0});
  }
  rest_ = 0;
  rest_bits_ = 0;
  return bytes;
}

}  // namespace imgpipe

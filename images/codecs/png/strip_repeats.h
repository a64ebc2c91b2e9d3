// Whether a strip holds matches that are worth finding: by samples, cheaply, the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace imgpipe {

constexpr std::size_t kRepeatCell = 512;
constexpr std::size_t kCellStep = 1024;
constexpr std::size_t kLongestWindow = 32;
constexpr unsigned kWindowBits = 40;
constexpr std::uint64_t kWindowMultiplier = 0x9E3779B97F4A7C15;

// Of windows that follow the strip's content: how many there are, and how many repeat an earlier one.
struct StripRepeats {
  std::uint32_t windows = 0;
  std::uint32_t repeated = 0;
};

// Cells of kRepeatCell bytes are looked at, one every kCellStep bytes from the strip's first on, the last
// that has kLongestWindow bytes behind it in the strip. Of each a position p is taken, that of the least key:
// the little-endian number of 32 bits at p, times
//   2654435761 mod 2^32, every bit turned over, the last 9 bits replaced by p - the cell's start. So equal
//   content gives equal positions wherever it stands, and the flattest (zeros) comes last.
// A window begins there and has as many bytes as are needed for literals of kWindowBits bits or more, by
// `lengths`,
//   the code lengths of the strip's 256 literals; where kLongestWindow bytes do not suffice it is none.
// Windows are the same if their hashes are: of a window filled up with zeros to four little-endian words, s =
// its
//   bytes, then for each word s = ((s xor word) * kWindowMultiplier) xor (s >> 29), all mod 2^64; the hash is
//   s.
[[nodiscard]] StripRepeats find_repeats(std::span<const std::uint8_t> strip,
                                        std::span<const std::uint8_t> lengths);
// What that allocates for a strip of so many bytes.
[[nodiscard]] std::int64_t repeats_working_bytes(std::int64_t strip_bytes);

}  // namespace imgpipe

// Whether a strip holds matches that are worth finding: by samples, cheaply, the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace imgpipe {

// Of windows that follow the strip's content: how many there are, and how many repeat an earlier one.
struct StripRepeats {
  std::uint32_t windows = 0;
  std::uint32_t repeated = 0;
};

// One position is taken from each cell of kRepeatCell bytes, the first cell at the strip's first byte; a last
// one that has not kLongestWindow bytes behind it is left out. It is that of the least key; the key of p:
// the little-endian number of 32 bits at p times 2654435761, mod 2^32, every bit turned over, the last 9 bits
// replaced by p - the cell's start. So equal content gives equal positions wherever it stands, and the
// flattest (zeros) comes last. From there on a window has as many bytes as are needed for literals of
// kWindowBits bits or more, by `lengths`, the code lengths of the strip's 256 literals; where kLongestWindow
// bytes do not suffice it is none. Two windows are the same if their hashes of 64 bits are: of a window
// filled up with zeros to four little-endian words, s = its bytes, then for each word s = ((s xor word) *
// kWindowMultiplier) xor (s >> 29).
[[nodiscard]] StripRepeats find_repeats(std::span<const std::uint8_t> strip,
                                        std::span<const std::uint8_t> lengths);
// What that allocates for a strip of so many bytes.
[[nodiscard]] std::int64_t repeats_working_bytes(std::int64_t strip_bytes);

constexpr std::size_t kRepeatCell = 512;
constexpr std::size_t kLongestWindow = 32;
constexpr unsigned kWindowBits = 40;
constexpr std::uint64_t kWindowMultiplier = 0x9E3779B97F4A7C15;

}  // namespace imgpipe

// Whether a strip holds matches that are worth finding: by samples, cheaply, the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "images/host_device.h"

namespace imgpipe {

constexpr std::size_t kRepeatCell = 512;
constexpr std::size_t kCellStep = 1024;
constexpr std::size_t kLongestWindow = 40;
constexpr unsigned kWindowBits = 40;
constexpr std::uint64_t kWindowMultiplier = 0x9E3779B97F4A7C15;
constexpr std::uint32_t kKeyMultiplier = 2654435761U;

// How many windows there are, and how many repeat an earlier one.
struct StripRepeats {
  std::uint32_t windows = 0;
  std::uint32_t repeated = 0;
};

[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::size_t repeat_cells(std::size_t strip_bytes) {
  constexpr std::size_t kLeast = kRepeatCell + kLongestWindow;
  return strip_bytes < kLeast ? 0 : (strip_bytes - kLeast) / kCellStep + 1;
}
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint64_t hash_step(std::uint64_t sum, std::uint64_t word) {
  return (sum ^ word) * kWindowMultiplier ^ sum >> 29;
}

// Where the windows begin in their cells: at the least key, so that what is equal is found wherever it
// stands; at the cell's first byte, so that what is periodic is found where rare bytes stand in it, which
// have the least keys.
enum class WindowPlace { least_key, first_byte };

// Cells of kRepeatCell bytes are looked at, one every kCellStep bytes from the strip's first on, the last
// that has kLongestWindow bytes behind it in the strip.
//
// The key at p is the little-endian number of 32 bits there, times 2654435761 mod 2^32, every bit turned
// over, the last 9 bits replaced by p less the cell's start. The flattest (zeros) comes last.
//
// A window has as many bytes as are needed for literals of kWindowBits bits or more, by `lengths`, the code
// lengths of the strip's 256 literals. It is none where kLongestWindow bytes do not suffice, or where all its
// bytes are the same: runs need no matches.
//
// Windows are the same if their hashes are. Of a window filled up with zeros to kLongestWindow bytes, as
// little-endian words of 64 bits: s is its bytes; then for each word s = ((s xor word) * kWindowMultiplier)
// xor (s >> 29), mod 2^64; the hash is s.
[[nodiscard]] StripRepeats find_repeats(std::span<const std::uint8_t> strip,
                                        std::span<const std::uint8_t> lengths, WindowPlace place);
// What that allocates for a strip of so many bytes.
[[nodiscard]] std::int64_t repeats_working_bytes(std::int64_t strip_bytes);

}  // namespace imgpipe

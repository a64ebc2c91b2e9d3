// Samples a strip to decide cheaply whether its matches are worth finding; every device decides the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "images/host_device.h"

namespace imgpipe {

constexpr std::size_t kRepeatCell = 512;
constexpr std::size_t kCellStep = 1024;
constexpr std::size_t kMaxWindowBytes = 40;
constexpr unsigned kWindowBits = 40;
constexpr std::uint64_t kWindowMultiplier = 0x9E3779B97F4A7C15;
constexpr std::uint32_t kKeyMultiplier = 2654435761U;

// The number of windows, and the number of windows that repeat an earlier one.
struct StripRepeats {
  std::uint32_t windows = 0;
  std::uint32_t repeated = 0;
};

[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::size_t repeat_cells(std::size_t strip_bytes) {
  constexpr std::size_t kLeast = kRepeatCell + kMaxWindowBytes;
  return strip_bytes < kLeast ? 0 : (strip_bytes - kLeast) / kCellStep + 1;
}
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint64_t hash_step(std::uint64_t sum, std::uint64_t word) {
  return (sum ^ word) * kWindowMultiplier ^ sum >> 29;
}

// Where windows begin in their cells. Windows at the least key find equal content at any position. Windows at
// the first byte find periodic content in which the least keys are at rare bytes.
enum class WindowPosition { min_key, first_byte };

// Examines a cell of kRepeatCell bytes every kCellStep bytes, as long as kMaxWindowBytes more bytes follow
// the cell in the strip.
//
// The key at p is computed from the little-endian 32-bit number there: times 2654435761 mod 2^32,
// complemented, with the last 9 bits replaced by p minus the cell's start. Four zeros have the greatest key.
//
// A window is the shortest sequence of bytes whose literals take at least kWindowBits bits by `lengths`, the
// code lengths of the 256 literals. There is none if it would exceed kMaxWindowBytes, or if all its bytes are
// equal: runs need no matches.
//
// Windows are equal if their hashes are. The hash s starts as the window's number of bytes. Each
// little-endian 64-bit word of the window, padded with zeros to kMaxWindowBytes bytes, updates it:
//   s = ((s xor word) * kWindowMultiplier) xor (s >> 29), mod 2^64
[[nodiscard]] StripRepeats find_repeats(std::span<const std::uint8_t> strip,
                                        std::span<const std::uint8_t> lengths, WindowPosition position);
// Returns the size of the memory that find_repeats() allocates for a strip of `strip_bytes`.
[[nodiscard]] std::int64_t repeats_working_bytes(std::int64_t strip_bytes);

}  // namespace imgpipe

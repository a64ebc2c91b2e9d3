// Samples of 16 bits in the byte order of files that store the most significant byte first (PNG, Netpbm), and
// in that of this machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "images/plane.h"

namespace imgpipe {

[[nodiscard]] constexpr std::uint16_t swapped_bytes(std::uint16_t value) {
  return static_cast<std::uint16_t>((value << 8) | (value >> 8));
}

// Copies `count` samples to the other byte order. `in` and `out` need no alignment and are the same or do not
// overlap.
inline void copy_swapped(const std::byte* in, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t value{};
    std::memcpy(&value, in + 2 * i, sizeof value);
    value = swapped_bytes(value);
    std::memcpy(out + 2 * i, &value, sizeof value);
  }
}

// The same from this machine's byte order to big-endian, and back.
inline void copy_big_endian(const std::byte* in, std::size_t count, std::byte* out) {
  if constexpr (std::endian::native == std::endian::little) {
    copy_swapped(in, count, out);
  } else {
    std::memmove(out, in, 2 * count);
  }
}

// Puts rows that were read as they are stored into this machine's order. Of 8 bits a sample: nothing.
inline void from_big_endian(const HostView& rows) {
  if (!is_wide(rows.sample) || std::endian::native == std::endian::big) return;
  const auto samples = static_cast<std::size_t>(rows.width * rows.channels);
  for (std::int64_t y = 0; y < rows.height; ++y) copy_big_endian(rows.row(y), samples, rows.row(y));
}

}  // namespace imgpipe

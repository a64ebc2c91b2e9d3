// Converts 16-bit samples between big-endian files (PNG, Netpbm) and the host's byte order.
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

// Copies `count` samples with swapped bytes. `in` and `out` need no alignment and are equal or disjoint.
inline void copy_swapped(const std::byte* in, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t value{};
    std::memcpy(&value, in + 2 * i, sizeof value);
    value = swapped_bytes(value);
    std::memcpy(out + 2 * i, &value, sizeof value);
  }
}

// Converts between the host's byte order and big-endian.
inline void copy_big_endian(const std::byte* in, std::size_t count, std::byte* out) {
  if constexpr (std::endian::native == std::endian::little) {
    copy_swapped(in, count, out);
  } else {
    std::memmove(out, in, 2 * count);
  }
}

// Converts rows read as stored to the host's byte order. Does nothing for 8-bit samples.
inline void from_big_endian(const HostView& rows) {
  if (!is_wide(rows.sample) || std::endian::native == std::endian::big) return;
  const auto samples = static_cast<std::size_t>(rows.width * rows.channels);
  for (std::int64_t y = 0; y < rows.height; ++y) copy_big_endian(rows.row(y), samples, rows.row(y));
}

}  // namespace imgpipe

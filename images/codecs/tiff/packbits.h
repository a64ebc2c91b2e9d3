// PackBits (TIFF 6.0, section 9): a count n below 128 is followed by n + 1 bytes to copy, one above 128 by a
// byte that stands 257 - n times, 128 by nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace imgpipe {

// Fills `out` and returns how much of it there is: less than out.size() where the data ends or breaks off.
// Runs may go over the ends of rows, as some writers have it.
[[nodiscard]] std::size_t unpack_packbits(std::span<const std::byte> packed, std::span<std::byte> out);

// Packs one row behind what is there.
void pack_packbits(std::span<const std::byte> row, std::vector<std::byte>& packed);

// The most that a row of so many bytes can become.
[[nodiscard]] constexpr std::size_t most_packbits_bytes(std::size_t row_bytes) {
  return row_bytes + (row_bytes + 127) / 128;
}

}  // namespace imgpipe

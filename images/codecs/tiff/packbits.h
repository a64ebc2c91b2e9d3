// PackBits (TIFF 6.0, section 9): a count n below 128 copies the next n + 1 bytes, one above 128 repeats the
// next byte 257 - n times, 128 does nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace imgpipe {

// Fills `out` and returns the number of bytes written; fewer than out.size() if the data ends early. Runs may
// span rows, as some writers produce.
[[nodiscard]] std::size_t unpack_packbits(std::span<const std::byte> packed, std::span<std::byte> out);

// Appends a packed row to `packed`.
void pack_packbits(std::span<const std::byte> row, std::vector<std::byte>& packed);

// Returns the maximum packed size of a row.
[[nodiscard]] constexpr std::size_t max_packbits_bytes(std::size_t row_bytes) {
  return row_bytes + (row_bytes + 127) / 128;
}

}  // namespace imgpipe

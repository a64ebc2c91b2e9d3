// LZW as TIFF has it (TIFF 6.0, section 13), written by libtiff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace imgpipe {

// The most that so many bytes can become: 12 bits each, and codes that clear the table.
[[nodiscard]] constexpr std::int64_t most_lzw_bytes(std::int64_t bytes) {
  return bytes + bytes / 2 + bytes / 1024 + 64;
}
// What pack_lzw() takes from malloc() beside what it returns.
inline constexpr std::int64_t kLzwWriterBytes = std::int64_t{288} << 10;

// A strip or tile of less than 4 GiB, from a clear code to the code at its end. Throws Error(memory), or
// Error(usage) where there is too much.
[[nodiscard]] std::vector<std::byte> pack_lzw(std::span<const std::byte> data);

}  // namespace imgpipe

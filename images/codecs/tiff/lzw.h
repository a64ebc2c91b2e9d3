// Compresses with TIFF's LZW (TIFF 6.0, section 13), using libtiff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace imgpipe {

// Returns the maximum compressed size of `bytes` bytes: 12 bits per byte, plus codes that clear the table.
[[nodiscard]] constexpr std::int64_t max_lzw_bytes(std::int64_t bytes) {
  return bytes + bytes / 2 + bytes / 1024 + 64;
}
// The memory that pack_lzw() takes from malloc() in addition to its result.
inline constexpr std::int64_t kLzwWriterBytes = std::int64_t{288} << 10;

// Compresses data of less than 4 GiB. The result begins with a clear code and ends with the end code. Throws
// Error(memory) or Error(usage).
[[nodiscard]] std::vector<std::byte> pack_lzw(std::span<const std::byte> data);

}  // namespace imgpipe

// Strips of a zlib stream, each compressed by itself, so that they can be made in any order and on any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

// Compresses one strip after another into pieces of one deflate stream (RFC 1951): every strip but the last
// ends in a full flush, on a byte, and refers to nothing before it. The bytes depend on the strip and the
// level alone. One thread uses it at a time.
class StripDeflater {
 public:
  // 1: by the rule of strip_rule.h; 0, 2, 3: ISA-L's levels; 4..9: zlib's. Throws Error(memory).
  explicit StripDeflater(int level);
  ~StripDeflater();
  StripDeflater(StripDeflater&&) noexcept;
  StripDeflater& operator=(StripDeflater&&) noexcept;

  // The most bytes that one holds which compresses strips of so many.
  [[nodiscard]] static std::int64_t working_bytes(std::int64_t strip_bytes, int level);

  // Throws Error(memory). What is returned is used by the next call.
  [[nodiscard]] std::span<const std::byte> compress(std::span<const std::byte> strip, bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The most that a strip of so many bytes can become. Level 0 has one table of codes for all files, which
// gives bytes that are rare in most up to 11 bits (noise: 1.23 of its size; 1.38 measured at the worst);
// above it, what does not become smaller is stored, in blocks of at least 32 KiB with 5 bytes each.
[[nodiscard]] std::int64_t most_compressed_bytes(std::int64_t strip_bytes, int level);

// The two bytes before the first strip (RFC 1950), for a window of 32 KiB.
[[nodiscard]] std::vector<std::byte> zlib_header(int level);

// Checksums as zlib and PNG define them; `before` is the value of what comes before, 1 (Adler) or 0 (CRC) at
// the start.
[[nodiscard]] std::uint32_t adler32_of(std::span<const std::byte> bytes, std::uint32_t before = 1);
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);
// The Adler-32 of two pieces in a row, of which the second has `bytes` bytes.
[[nodiscard]] std::uint32_t adler32_joined(std::uint32_t first, std::uint32_t second, std::int64_t bytes);

// "ISA-L 2.30.0, zlib 1.2.13".
[[nodiscard]] std::string deflate_versions();

}  // namespace imgpipe

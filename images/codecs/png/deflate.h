// Compresses the strips of a zlib stream independently, in any order and on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

// Compresses strips into consecutive parts of a deflate stream (RFC 1951). Each part is independent of the
// parts before it; all but the last end with a full flush, on a byte boundary. The bytes depend only on strip
// and level. Not thread-safe: use one per thread.
class StripDeflater {
 public:
  // Level 0 stores the bytes, 1 follows the rule in strip_rule.h, 2 to 9 are levels of libdeflate. From level
  // 2 on a strip is never larger than the same strip as one block without matches. Throws Error(memory).
  explicit StripDeflater(int level);
  ~StripDeflater();
  StripDeflater(StripDeflater&&) noexcept;
  StripDeflater& operator=(StripDeflater&&) noexcept;

  // Returns the most bytes held while compressing strips of `strip_bytes`.
  [[nodiscard]] static std::int64_t working_bytes(std::int64_t strip_bytes, int level);

  // The result is valid until the next call. Throws Error(memory).
  [[nodiscard]] std::span<const std::byte> compress(std::span<const std::byte> strip, bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Returns the maximum compressed size of a strip. Incompressible data are stored, in blocks of at least 32
// KiB with 5 bytes of overhead each.
[[nodiscard]] std::int64_t max_compressed_bytes(std::int64_t strip_bytes);

// Returns a zlib stream (RFC 1950) of metadata, compressed by zlib. Throws Error(memory).
[[nodiscard]] std::vector<std::byte> zlib_stream(std::span<const std::byte> bytes);

// Returns the two bytes before the first strip (RFC 1950), for a window of 32 KiB.
[[nodiscard]] std::vector<std::byte> zlib_header(int level);

// Checksums as zlib and PNG define them. `before`: checksum of the preceding bytes; 1 (Adler) or 0 (CRC) if
// none.
[[nodiscard]] std::uint32_t adler32_of(std::span<const std::byte> bytes, std::uint32_t before = 1);
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);
// Returns the Adler-32 of two consecutive parts; the second has `bytes` bytes.
[[nodiscard]] std::uint32_t adler32_joined(std::uint32_t first, std::uint32_t second, std::int64_t bytes);

// "ISA-L 2.30.0, libdeflate 1.14, zlib 1.2.13".
[[nodiscard]] std::string deflate_versions();

}  // namespace imgpipe

// SHA-256 (FIPS 180-4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// Hashes bytes that arrive in segments. Uses the processor's SHA instructions if it has them (x86 SHA-NI).
class Sha256 {
 public:
  // `portable`: never by those instructions. For tests.
  explicit Sha256(bool portable = false);

  void add(std::span<const std::byte> bytes);
  // Returns the digest of all bytes so far as 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

  using State = std::array<std::uint32_t, 8>;
  using Block = std::array<std::byte, 64>;

 private:
  void (*add_blocks_)(State& state, const std::byte* blocks, std::size_t count);
  State state_;
  Block rest_{};  // of an incomplete block
  std::uint64_t bytes_ = 0;
};

[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace imgpipe

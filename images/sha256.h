// SHA-256 (FIPS 180-4), by libmd.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// Hashes bytes that arrive in segments.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void add(std::span<const std::byte> bytes);
  // Returns the digest of all bytes so far as 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace imgpipe

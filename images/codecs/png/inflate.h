// Reads a zlib stream (RFC 1950) in parts, with ISA-L.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace imgpipe {

// ISA-L 2.30's Adler-32 for arm64 reads this many bytes after its input, in isal_inflate() too.
#if defined(__aarch64__)
inline constexpr std::size_t kAdlerReadsAfter = 32;
#else
inline constexpr std::size_t kAdlerReadsAfter = 0;
#endif

class ZlibInflater {
 public:
  ZlibInflater();
  ~ZlibInflater();
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  // Decompresses from the front of `in`, which it shortens, into `out`. Returns the bytes written: below
  // out.size() if `in` is used up or the stream has ended. Throws Error(input) for a corrupt stream.
  [[nodiscard]] std::size_t inflate(std::span<const std::byte>& in, std::span<std::byte> out);

  // Returns whether the stream has ended with a correct checksum.
  [[nodiscard]] bool finished() const noexcept;

  void restart() noexcept;

 private:
  [[nodiscard]] std::size_t inflate_readable_after(std::span<const std::byte>& in, std::span<std::byte> out);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpipe

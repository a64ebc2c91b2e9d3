// A zlib stream (RFC 1950) read piece by piece, by ISA-L.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace imgpipe {

class ZlibInflater {
 public:
  ZlibInflater();
  ~ZlibInflater();
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  // Decompresses from the front of `in`, which it shortens by what it took, into `out`; returns how much it
  // made. Less than out.size() means that `in` is used up or the stream has ended. Throws Error(input) for a
  // stream that is corrupt, its Adler-32 included.
  [[nodiscard]] std::size_t inflate(std::span<const std::byte>& in, std::span<std::byte> out);

  // The stream has ended and its checksum was right.
  [[nodiscard]] bool finished() const noexcept;

  // For another stream, from its beginning.
  void restart() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpipe

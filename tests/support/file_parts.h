// Files made of parts, and everything that a decoder reports about one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe::test {

using Bytes = std::vector<std::byte>;
using Strings = std::vector<std::string>;

struct Decoded {
  ImageHeader header;
  Image image;
  Strings warnings;
  std::string reason;  // why decoding failed, without an image
};

[[nodiscard]] Decoded try_decode(const Bytes& bytes, const DecodeOptions& options = {});
[[nodiscard]] Decoded decode_leniently(const Bytes& bytes);

[[nodiscard]] Bytes bytes_of(std::string_view text);
[[nodiscard]] Bytes operator+(Bytes a, const Bytes& b);
// Returns `value` in big-endian order.
[[nodiscard]] Bytes number(std::uint32_t value, int bytes = 4);

// Returns a file of 16x12 pixels written by imgpipe.
[[nodiscard]] Bytes encoded(Format format, int channels = 3);
// A TIFF structure with the orientation "turn by 90 degrees".
[[nodiscard]] Bytes turned_exif();

[[nodiscard]] double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace imgpipe::test

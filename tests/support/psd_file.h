// Photoshop files, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace imgpipe::test {

using Bytes = std::vector<std::byte>;
using Values = std::vector<int>;  // of one channel

enum Mode {
  kBitmap = 0,
  kGrey = 1,
  kIndexed = 2,
  kRgb = 3,
  kCmyk = 4,
  kMultichannel = 7,
  kDuotone = 8,
  kLab = 9
};

// Appends `value` in `bytes` big-endian bytes.
void put(Bytes& file, std::int64_t value, int bytes);
void put_text(Bytes& file, std::string_view text);

struct Psd {
  int width = 1, height = 1;
  int mode = kRgb;
  int depth = 8;
  int version = 1;
  int compression = 0;
  Bytes palette{};
  Bytes resources{};
  Bytes layers{};  // the whole section
  std::vector<Values> channels{};
};

// A section of layers with only their number.
[[nodiscard]] Bytes layer_count(int count, int version = 1);
[[nodiscard]] Bytes make_psd(const Psd& psd);

}  // namespace imgpipe::test

#include "tests/support/bmp_file.h"

#include <algorithm>

namespace imgpipe::test {

FileBytes Bmp::build() const {
  FileBytes file;
  const auto put = [&](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<std::byte>(i < 8 ? value >> (8 * i) : 0));
  };
  const bool core = header_bytes == 12;
  put('B' | 'M' << 8, 2), put(0, 12), put(header_bytes, 4);
  put(static_cast<std::uint32_t>(width), core ? 2 : 4), put(static_cast<std::uint32_t>(height), core ? 2 : 4);
  put(static_cast<std::uint32_t>(planes), 2), put(static_cast<std::uint32_t>(bits), 2);
  if (!core) put(compression, 4), put(0, 12), put(colors, 4), put(0, 4);
  file.resize(14 + std::min<std::size_t>(header_bytes, core ? 12 : 40));
  for (const std::uint32_t mask : masks) put(mask, 4);
  if (file.size() < 14 + header_bytes) file.resize(14 + header_bytes);
  for (const int value : palette) put(static_cast<std::uint64_t>(value), 1);
  const std::uint64_t at = pixels_at.value_or(static_cast<std::uint32_t>(file.size()));
  for (std::size_t i = 0; i < 4; ++i) file[10 + i] = static_cast<std::byte>(at >> (8 * i));
  for (const int value : pixels) put(static_cast<std::uint64_t>(value), 1);
  return file;
}

Values color_of(int i) {
  return {(i * 7 + 1) % 256, (i * 5 + 2) % 256, (i * 3 + 3) % 256};
}

Values palette_bytes(int count, int entry_bytes) {
  Values bytes;
  for (int i = 0; i < count; ++i) {
    const Values color = color_of(i);
    bytes.insert(bytes.end(), {color[2], color[1], color[0]});
    if (entry_bytes == 4) bytes.push_back(77);
  }
  return bytes;
}

Bmp two_colors() {
  Bmp bmp;
  bmp.width = 2, bmp.bits = 8, bmp.colors = 2, bmp.palette = palette_bytes(2, 4), bmp.pixels = {0, 1, 0, 0};
  return bmp;
}

}  // namespace imgpipe::test

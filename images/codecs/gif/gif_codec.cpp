#include "images/codecs/gif/gif_codec.h"

#include <string_view>

#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// Where the blocks of a GIF end (GIF89a, appendix A): behind its trailer or at what is no block; kEndless
// where they go on beyond these bytes.
std::int64_t end_of_blocks(Bytes bytes) {
  constexpr std::size_t kHeaderBytes = 13;
  const auto table_bytes = [&](std::size_t flags_at) {
    const std::uint32_t flags = little_endian(bytes, flags_at, 1);
    return (flags & 0x80) != 0 ? std::size_t{6} << (flags & 7) : 0;
  };
  std::size_t at = kHeaderBytes + table_bytes(10);
  while (at < bytes.size()) {
    const std::uint32_t block = little_endian(bytes, at, 1);
    if (block == 0) {  // some writers end blocks twice
      ++at;
      continue;
    }
    if (block != 0x21 && block != 0x2C) return static_cast<std::int64_t>(at) + 1;
    at += block == 0x21 ? 2 : 11 + table_bytes(at + 9);
    std::uint32_t sub_block = 1;
    while (at < bytes.size() && sub_block != 0) {
      sub_block = little_endian(bytes, at, 1);
      at += 1 + sub_block;
    }
  }
  return kEndless;
}

}  // namespace

bool is_gif(Bytes beginning) {
  return stands_at(beginning, 0, "GIF87a"sv) || stands_at(beginning, 0, "GIF89a"sv);
}

FileClaim gif_claim(Bytes beginning) {
  return {.width = little_endian(beginning, 6, 2),
          .height = little_endian(beginning, 8, 2),
          .other_bytes = end_of_blocks(beginning)};
}

}  // namespace imgpipe

#include "images/codecs/heif/heif_boxes.h"

#include "images/codecs/sniff.h"

namespace imgpipe {

std::uint64_t BoxNumbers::next(std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value = value << 8 | (i < rest_.size() ? std::to_integer<std::uint64_t>(rest_[i]) : 0);
  skip(count);
  return value;
}

std::optional<Box> next_box(Bytes& rest) {
  constexpr std::size_t kHeader = 8, kLongHeader = 16;
  if (rest.size() < kHeader) return std::nullopt;
  std::uint64_t size = big_endian(rest, 0, 4);
  std::size_t header = kHeader;
  if (size == 1) {
    size = big_endian_64(rest, kHeader);
    header = kLongHeader;
  }
  if (size == 0) size = rest.size();  // extends to the end
  if (size < header || rest.size() < header) return std::nullopt;
  Box box{.type = {reinterpret_cast<const char*>(rest.data()) + 4, 4},
          .payload = {},
          .is_truncated = size > rest.size()};
  const Bytes whole = rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(size, rest.size())));
  box.payload = whole.subspan(header);
  rest = rest.subspan(whole.size());
  return box;
}

Bytes find_box(Bytes boxes, std::string_view type) {
  while (const std::optional<Box> box = next_box(boxes)) {
    if (box->type == type) return box->payload;
  }
  return {};
}

}  // namespace imgpipe

// Boxes of ISO/IEC 14496-12, section 4.2, and the numbers in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "images/codecs/codec_parts.h"

namespace imgpipe {

// Reads big-endian numbers in sequence; after the end they are 0, and done() is set.
class BoxNumbers {
 public:
  explicit BoxNumbers(Bytes bytes) : rest_(bytes) {}

  std::uint64_t next(std::size_t count);
  void skip(std::size_t count) { rest_ = rest_.subspan(std::min(rest_.size(), count)); }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
};

struct Box {
  std::string_view type;  // four bytes
  Bytes payload;          // cut at the end of the file
  bool is_truncated = false;
};

// Removes the next box from `rest`; nullopt at the end, or if no header follows.
[[nodiscard]] std::optional<Box> next_box(Bytes& rest);
// Returns the payload of the first box of this type; empty if there is none.
[[nodiscard]] Bytes find_box(Bytes boxes, std::string_view type);

}  // namespace imgpipe

// Removes the stuffing from a JPEG's entropy-coded data: the zero after every 0xFF (ITU-T T.81, B.1.1.5).
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe {

// `out` needs space for the whole input and this margin; anything may be written to the rest.
inline constexpr std::size_t kUnstuffingMargin = 16;

struct Unstuffed {
  const std::uint8_t* in = nullptr;  // `end`, or a 0xFF without a zero after it
  std::uint8_t* out = nullptr;       // after the last byte written
};

// Copies the data from `in` on; `out` must not overlap it.
[[nodiscard]] Unstuffed unstuff(const std::uint8_t* in, const std::uint8_t* end, std::uint8_t* out);

}  // namespace imgpipe

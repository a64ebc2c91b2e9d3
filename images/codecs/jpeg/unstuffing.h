// Entropy-coded data of a JPEG without its stuffing: the zero behind every 0xFF (ITU-T T.81, B.1.1.5).
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe {

// `out` has room for as many bytes as there are, and so many more: anything may be written there.
inline constexpr std::size_t kUnstuffingMargin = 16;

struct Unstuffed {
  const std::uint8_t* in = nullptr;  // `end`, or a 0xFF with no zero behind it
  std::uint8_t* out = nullptr;       // behind the last byte written
};

// Copies what begins at `in`; out does not overlap it.
[[nodiscard]] Unstuffed unstuff(const std::uint8_t* in, const std::uint8_t* end, std::uint8_t* out);

}  // namespace imgpipe

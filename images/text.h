// Text that is safe to show on a terminal or write into a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace imgpipe {

// Returns `text` as valid UTF-8 that can be shown: what is not well-formed (Unicode 15, table 3-7),
// noncharacters (U+FFFE), C0 and C1 controls, DEL, and invisible line and direction controls (U+061C, 200E-F,
// 2028-202E, 2066-2069) come out as \xHH, byte by byte; a backslash stays as it is.
[[nodiscard]] std::string printable(std::string_view text);

// Length of the well-formed UTF-8 sequence at the start of `text`, which is not empty, and its character; 0
// when there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::uint32_t& code_point);

}  // namespace imgpipe

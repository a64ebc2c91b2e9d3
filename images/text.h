// Text that is safe to print on a terminal or write into a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// Returns `text` as valid, printable UTF-8. Escapes as \xHH, byte by byte: ill-formed sequences (Unicode 15,
// table 3-7), noncharacters, C0 and C1 controls, DEL, invisible line and direction controls (U+061C, 200E-F,
// 2028-202E, 2066-2069). A backslash is unchanged.
[[nodiscard]] std::string printable(std::string_view text);

// Returns the length of the UTF-8 sequence at the start of `text` (not empty), or 0, and sets its code point.
[[nodiscard]] std::size_t utf8_length(std::string_view text, std::uint32_t& code_point);

// Returns the numbers with `separator` between them: "3x224x224".
[[nodiscard]] std::string joined_numbers(std::span<const std::int64_t> numbers, std::string_view separator);

}  // namespace imgpipe

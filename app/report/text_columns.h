// Numbers and columns of the tables for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace imgpipe {

// "12.35": with so many decimals.
[[nodiscard]] std::string number(double value, int decimals);
// Filled with spaces to `width`, before the text or (`left`) behind it.
[[nodiscard]] std::string padded(const std::string& text, std::size_t width, bool left = false);

// "1,234,567".
[[nodiscard]] std::string with_separators(std::uint64_t value);
// "1 image", "1,234 images".
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& what);

}  // namespace imgpipe

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
// "812 bytes", "54.3 kB", "2419.2 MB": by powers of 1,000.
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
// The shortest text that reads back as the same number.
[[nodiscard]] std::string exact_number(double value);

}  // namespace imgpipe

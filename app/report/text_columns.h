// Formats numbers and columns of tables for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace imgpipe {

// "12.35" for two decimals.
[[nodiscard]] std::string number(double value, int decimals);
// Pads with spaces to `width`: in front, or after the text if `left`.
[[nodiscard]] std::string padded(const std::string& text, std::size_t width, bool left = false);

// "1,234,567".
[[nodiscard]] std::string with_separators(std::uint64_t value);
// "1 image", "1,234 images".
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& what);
// "812 bytes", "54.3 kB", "2419.2 MB": units are powers of 1,000.
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
// Returns the shortest text that reads back as the same number.
[[nodiscard]] std::string exact_number(double value);

}  // namespace imgpipe

// Numbers and columns of the tables for people.
#pragma once

#include <cstddef>
#include <string>

namespace imgpipe {

// "12.35": with so many decimals.
[[nodiscard]] std::string number(double value, int decimals);
// Filled with spaces to `width`, before the text or (`left`) behind it.
[[nodiscard]] std::string padded(const std::string& text, std::size_t width, bool left = false);

}  // namespace imgpipe

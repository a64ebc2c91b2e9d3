// SVG 1.1 elements as text.
#pragma once

#include <cstddef>
#include <string>

namespace imgpipe {

// Escapes &, <, > and double quotes.
[[nodiscard]] std::string xml(const std::string& text);
// Shortens a text to `max_bytes` (at least 5) by replacing its middle with dots, without splitting a
// character. Counts bytes because wider letters tend to take more of them.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t max_bytes);
// "12.3"
[[nodiscard]] std::string coordinate(double value);
// `style` is a list of attributes, such as class="tick".
[[nodiscard]] std::string text_at(double x, double y, const std::string& style, const std::string& text);
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, const std::string& style);
// Returns a whole drawing on a white background; `style` is its style sheet, sizes are in pixels.
[[nodiscard]] std::string drawing(int width, int height, const std::string& style,
                                  const std::string& content);

}  // namespace imgpipe

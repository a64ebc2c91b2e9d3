// The pieces that the drawings are made of: elements of SVG 1.1 as text.
#pragma once

#include <cstddef>
#include <string>

namespace imgpipe {

// The text with &, <, > and double quotes escaped.
[[nodiscard]] std::string xml(const std::string& text);
// A text of at most so many bytes (at least 5): its two ends with dots between them where it is longer. No
// character is cut. Bytes, as letters that take more of them are wider.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t most_bytes);
// "12.3"
[[nodiscard]] std::string coordinate(double value);
// `style`: attributes, such as class="tick".
[[nodiscard]] std::string text_at(double x, double y, const std::string& style, const std::string& text);
[[nodiscard]] std::string line(double x1, double y1, double x2, double y2, const std::string& style);
// A whole drawing on white: `style` is its style sheet, in pixels.
[[nodiscard]] std::string drawing(int width, int height, const std::string& style,
                                  const std::string& content);

}  // namespace imgpipe

#include "app/report/svg.h"

#include <array>
#include <cstdio>

#include "app/files/replaceable.h"
#include "images/text.h"

namespace imgpipe {

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string shortened(const std::string& text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  std::size_t head = (max_bytes - 3) / 2;
  std::size_t tail = text.size() - (max_bytes - 3 - head);
  while (head > 0 && continues(text[head])) --head;
  while (tail < text.size() && continues(text[tail])) ++tail;
  return text.substr(0, head) + "..." + text.substr(tail);
}

std::string coordinate(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string text_at(double x, double y, const std::string& style, const std::string& text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" " + style + ">" +
         xml(printable(text)) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1) + "\" x2=\"" + coordinate(x2) +
         "\" y2=\"" + coordinate(y2) + "\" " + style + "/>\n";
}

std::string drawing(int width, int height, const std::string& style, const std::string& content) {
  const std::string w = std::to_string(width);
  const std::string h = std::to_string(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " +
         w + " " + h + "\">\n" + std::string(kSvgMark) + "\n<style>" + style +
         "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + content + "</svg>\n";
}

}  // namespace imgpipe

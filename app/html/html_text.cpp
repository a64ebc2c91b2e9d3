#include "app/html/html_text.h"

#include <algorithm>
#include <cstdint>

#include "app/report/svg.h"
#include "images/text.h"

namespace imgpipe {

std::string html(std::string_view text) {
  return xml(printable(text));
}

std::string html_lines(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n' && text[i] != '\t') continue;
    out += html(text.substr(begin, i - begin));
    if (i < text.size()) out += text[i];
    begin = i + 1;
  }
  return out;
}

std::string element(std::string_view tag, std::string_view content, std::string_view attributes) {
  std::string out = "<";
  out.append(tag).append(attributes).append(">").append(content).append("</").append(tag).append(">\n");
  return out;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace imgpipe

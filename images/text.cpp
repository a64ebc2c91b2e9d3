#include "images/text.h"

namespace imgpipe {
namespace {

bool invisible(std::uint32_t code_point) {
  const bool is_direction = code_point == 0x061C || code_point == 0x200E || code_point == 0x200F;
  const bool is_noncharacter =
      (code_point & 0xFFFE) == 0xFFFE || (code_point >= 0xFDD0 && code_point <= 0xFDEF);
  return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F) || is_direction || is_noncharacter ||
         (code_point >= 0x2028 && code_point <= 0x202E) || (code_point >= 0x2066 && code_point <= 0x2069);
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::uint32_t& code_point) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  std::size_t length = 0;
  if (lead < 0x80) {
    code_point = lead;
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  code_point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code_point = (code_point << 6) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return overlong || surrogate || code_point > 0x10FFFF ? 0 : length;
}

std::string printable(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = utf8_length(text, code_point);
    if (length > 0 && !invisible(code_point)) {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
      continue;
    }
    for (std::size_t i = 0; i < (length > 0 ? length : 1); ++i) {
      const auto byte = static_cast<std::uint8_t>(text[i]);
      out.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

std::string joined_numbers(std::span<const std::int64_t> numbers, std::string_view separator) {
  std::string text;
  for (const std::int64_t number : numbers) {
    if (!text.empty()) text += separator;
    text += std::to_string(number);
  }
  return text;
}

}  // namespace imgpipe

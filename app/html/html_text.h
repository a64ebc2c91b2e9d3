// The pieces that the pages are made of, as HTML text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// Any bytes as text of a page or of an attribute in double quotes: control characters and what is no UTF-8
// come out as \xHH (images/text.h), & < > " are escaped.
[[nodiscard]] std::string html(std::string_view text);
// The same of several lines: line feeds and tabs stay.
[[nodiscard]] std::string html_lines(std::string_view text);

// "<p>content</p>"; `attributes`: " class=\"note\"". The content is HTML already.
[[nodiscard]] std::string element(std::string_view tag, std::string_view content,
                                  std::string_view attributes = "");

// RFC 4648, section 4.
[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

}  // namespace imgpipe

// Building blocks of the HTML pages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// Escapes any bytes for text or a double-quoted attribute. Control characters and invalid UTF-8 become \xHH
// (images/text.h); & < > " are escaped.
[[nodiscard]] std::string html(std::string_view text);
// Like html(), but keeps line feeds and tabs.
[[nodiscard]] std::string html_lines(std::string_view text);

// Returns "<p>content</p>"; `attributes` is like " class=\"note\"". `content` must be HTML.
[[nodiscard]] std::string element(std::string_view tag, std::string_view content,
                                  std::string_view attributes = "");

// RFC 4648, section 4.
[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

}  // namespace imgpipe

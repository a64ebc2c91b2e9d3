// Character sets of texts in image files: Latin-1 (ISO 8859-1) and UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace imgpipe {

[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] std::string utf8_of_latin1(std::string_view text);
// `text` is UTF-8. Returns nullopt if a character is not in Latin-1.
[[nodiscard]] std::optional<std::string> latin1_of_utf8(std::string_view text);

}  // namespace imgpipe

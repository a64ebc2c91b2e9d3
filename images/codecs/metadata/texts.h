// The character sets of texts in image files: Latin-1 (ISO 8859-1) and UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace imgpipe {

[[nodiscard]] bool is_utf8(std::string_view text);
[[nodiscard]] std::string utf8_of_latin1(std::string_view text);
// `text` is UTF-8; nullopt where it has characters that Latin-1 has not.
[[nodiscard]] std::optional<std::string> latin1_of_utf8(std::string_view text);

}  // namespace imgpipe

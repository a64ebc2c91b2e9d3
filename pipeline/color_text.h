// Colours as text: the names of CSS Color Module Level 4, #RRGGBB and #RRGGBBAA.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// Returns 0xRRGGBBAA; std::nullopt for any other text. Ignores case.
[[nodiscard]] std::optional<std::uint32_t> parse_color(std::string_view text);

// Returns the name of a colour 0xRRGGBBAA, or its digits.
[[nodiscard]] std::string color_text(std::uint32_t color);

// Returns all names, each in one spelling: gray, not grey.
[[nodiscard]] std::span<const std::string_view> color_names();

}  // namespace imgpipe

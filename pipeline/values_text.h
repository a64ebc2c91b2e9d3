// The values of a step as one text, and the short forms of several values: sizes and lists.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace imgpipe {

struct Parameters;
struct Stage;

// The values of WxH.
inline constexpr std::size_t kSizeValues = 2;

// Returns the number of first parameters that a stage accepts as one value: 4 as WxH+X+Y, 2 as WxH, or 0.
[[nodiscard]] std::size_t rectangle_values(const Stage& stage);

// Whether the stage requires a size, which its text then shows as one value.
[[nodiscard]] bool requires_size(const Stage& stage);

// Returns the parameter that N% sets; std::nullopt if the stage has none.
[[nodiscard]] std::optional<std::size_t> percent_row(const Stage& stage);

// Returns the number of parameters that a list A/B/C may set from parameter `first` on.
[[nodiscard]] std::size_t list_values(const Stage& stage, std::size_t first);

// Returns the values that differ from the presets, in the syntax of --stages: ":gauss", ":640x480:x=3".
[[nodiscard]] std::string values_text(const Stage& stage, const Parameters& values,
                                      const Parameters& presets);

}  // namespace imgpipe

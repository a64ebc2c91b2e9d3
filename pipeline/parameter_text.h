// The texts of parameters' values: as --stages accepts them, and as reports, help and docs show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace imgpipe {

struct Parameter;
struct Parameters;
struct Stage;

// Whether the text is the name of an image, for a parameter that may be one.
[[nodiscard]] bool names_image(const Parameter& parameter, std::string_view text);

// Throws Error(usage) for a text that the parameter does not accept; the message begins with `where`.
[[nodiscard]] std::int64_t parse_value(const std::string& where, const Parameter& parameter,
                                       std::string_view text);

// Formats a value so that parse_value() reads it back: "gauss", "0.5", "#ff8000".
[[nodiscard]] std::string value_text(const Parameter& parameter, std::int64_t value);

// The same for parameter i of a stage, which may be an image.
[[nodiscard]] std::string value_text(const Stage& stage, const Parameters& values, std::size_t i);

// Describes the values that a parameter accepts: "box, triangle, gauss", "0 to 255, or otsu".
[[nodiscard]] std::string allowed_values(const Parameter& parameter);

}  // namespace imgpipe

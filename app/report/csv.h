// CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/report/fields.h"

namespace imgpipe {

// Quotes the text if it contains a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(const std::string& text);

// Return the keys and values of a flat object: null is empty, a list is one field.
[[nodiscard]] std::string csv_head(const Json& object);
[[nodiscard]] std::string csv_row(const Json& object);
[[nodiscard]] std::string csv_value(const Json& value);

// Parses the fields of a row that csv_row() made.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view row);

}  // namespace imgpipe

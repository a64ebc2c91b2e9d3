// CSV (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/report/fields.h"

namespace imgpipe {

// Quoted where it has a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(const std::string& text);

// The keys of an object without objects in it, and its values: null is nothing, a list is one field.
[[nodiscard]] std::string csv_head(const Json& object);
[[nodiscard]] std::string csv_row(const Json& object);
[[nodiscard]] std::string csv_value(const Json& value);

// The fields of a row that csv_row() made.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view row);

}  // namespace imgpipe

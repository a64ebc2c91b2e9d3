// Names with fields in them: "{stem}_{page:05}.png".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

struct NameSegment {
  std::string text{};  // the literal text, or the field's name
  bool is_field = false;
  int digits = 0;  // of a field {n:05}: 5; 0: unspecified
};

// Splits a name; "{{" and "}}" are braces. Throws Error(usage) for a single brace, an empty field or an
// invalid width.
[[nodiscard]] std::vector<NameSegment> name_segments(std::string_view name);

// The inverse of name_segments() for a text without fields, and for a field.
[[nodiscard]] std::string as_text_of_name(std::string_view text);
[[nodiscard]] std::string as_field_of_name(const NameSegment& field);

[[nodiscard]] std::string padded_number(std::int64_t number, int digits);

inline constexpr std::string_view kPageField = "page";

// For names with {page} as the only field: the name of a page, and the deepest directory common to all pages.
[[nodiscard]] std::string name_of_page(const std::string& name, std::int64_t number);
[[nodiscard]] std::string directory_of_pages(const std::string& name);

}  // namespace imgpipe

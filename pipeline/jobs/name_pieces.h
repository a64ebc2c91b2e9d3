// Names with fields in them: "{stem}_{page:05}.png".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

struct NamePiece {
  std::string text{};  // the literal text, or the field's name
  bool is_field = false;
  int digits = 0;  // of a field {n:05}: 5; 0: unspecified
};

// Splits a name; "{{" and "}}" are literal braces. Throws Error(usage) for an unmatched brace, an empty
// field, or an invalid width after a colon.
[[nodiscard]] std::vector<NamePiece> name_pieces(std::string_view name);

// The inverse of name_pieces() for a text without fields, and for a field.
[[nodiscard]] std::string as_text_of_name(std::string_view text);
[[nodiscard]] std::string as_field_of_name(const NamePiece& field);

// Pads a number with leading zeros.
[[nodiscard]] std::string padded_number(std::int64_t number, int digits);

// The field for a page's number.
inline constexpr std::string_view kPageField = "page";

// The name with the number in place of {page}, and the deepest directory common to all pages. {page} must be
// the only field.
[[nodiscard]] std::string name_of_page(const std::string& name, std::int64_t number);
[[nodiscard]] std::string folder_of_pages(const std::string& name);

}  // namespace imgpipe

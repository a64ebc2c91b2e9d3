// Names with fields in them: "{stem}_{page:05}.png".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

struct NamePiece {
  std::string text{};  // as it is; of a field its name
  bool is_field = false;
  int digits = 0;  // of a field {n:05}: 5; 0: nothing was said
};

// In their order; "{{" and "}}" are braces. Throws Error(usage) for a brace by itself, an empty field, and
// what is no width behind a colon.
[[nodiscard]] std::vector<NamePiece> name_pieces(std::string_view name);

// As name_pieces() takes them: a text with no field in it, and a field.
[[nodiscard]] std::string as_text_of_name(std::string_view text);
[[nodiscard]] std::string as_field_of_name(const NamePiece& field);

// With zeros in front, where it has fewer digits.
[[nodiscard]] std::string padded_number(std::int64_t number, int digits);

// The field that stands for a page's number.
inline constexpr std::string_view kPageField = "page";

// The name with the number for {page}; the name of the folder that all pages lie in or below. For names in
// which {page} is the only field.
[[nodiscard]] std::string name_of_page(const std::string& name, std::int64_t number);
[[nodiscard]] std::string folder_of_pages(const std::string& name);

}  // namespace imgpipe

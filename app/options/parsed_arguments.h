// Command line arguments as given, with each option resolved to its row.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

struct Stage;

// An option with its value, or another argument, such as "--" and everything after it.
struct ParsedArgument {
  const OptionRow* row = nullptr;  // nullptr: not an option
  std::string text;                // the value; "true" or "false" for a switch; or the argument itself
  bool has_value = true;           // false: the value is missing
};

// Resolves every option to its row, whether given by letter (-j 4, -j4, -rj4), by one of its names or by a
// spelling variant (--no-colour). A switch may have a value: --recursive=false. `rows` must outlive the
// result. Throws Error(usage) for an unknown option and suggests the nearest; the message refers to the
// --help of `command`, such as "imgpipe bench".
[[nodiscard]] std::vector<ParsedArgument> parse_arguments(const std::vector<std::string>& arguments,
                                                          const std::vector<OptionRow>& rows,
                                                          const std::string& command);
// Converts parsed arguments back to texts: options by main name, values as separate arguments except for
// switches.
[[nodiscard]] std::vector<std::string> argument_texts(const std::vector<ParsedArgument>& given);

// Throws Error(usage) for an option whose value is missing.
void check_values(const std::vector<ParsedArgument>& given);

// "resize is a stage: --stages resize:640:0".
[[nodiscard]] std::string stage_hint(const Stage& stage);

// Finds an option by any of its names and spellings, without dashes; nullptr if there is none.
[[nodiscard]] const OptionRow* find_option(const std::string& name, const std::vector<OptionRow>& rows);
// Returns all names without dashes.
[[nodiscard]] std::vector<std::string> option_names(const std::vector<OptionRow>& rows);

}  // namespace imgpipe

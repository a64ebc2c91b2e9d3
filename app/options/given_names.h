// Arguments as they were typed, with one name for each option.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

struct Stage;

// An argument: an option, or what stands without one. Behind "--", which is an argument of its own, no option
// stands.
struct GivenArgument {
  const OptionRow* row = nullptr;  // nullptr: none
  std::string text;       // the value; of a switch "true" or "false"; or what stands without an option
  bool has_value = true;  // false: the value is missing
};

// Every option by its row, whether it was given by its letter (-j 4, -j4, -rj4), by one of its names or by
// their other spelling (--no-colour). A switch may have a value, --recursive=false. The rows stay where they
// are. Throws Error(usage) for an option that no row has, with the nearest that one has; `command` is whose
// --help is to be read: "imgpipe bench".
[[nodiscard]] std::vector<GivenArgument> given_arguments(const std::vector<std::string>& arguments,
                                                         const std::vector<OptionRow>& rows,
                                                         const std::string& command);
// The same as arguments again: each option has its own name, and its value is an argument of its own, but a
// switch's.
[[nodiscard]] std::vector<std::string> argument_texts(const std::vector<GivenArgument>& given);

// Throws Error(usage) for an option whose value is missing.
void check_values(const std::vector<GivenArgument>& given);

// "resize is a stage: --stages resize:640:0".
[[nodiscard]] std::string stage_hint(const Stage& stage);

// The row of an option by one of its names in either spelling, without dashes; nullptr: there is none.
[[nodiscard]] const OptionRow* find_option(const std::string& name, const std::vector<OptionRow>& rows);
// All names, without their dashes.
[[nodiscard]] std::vector<std::string> option_names(const std::vector<OptionRow>& rows);

}  // namespace imgpipe

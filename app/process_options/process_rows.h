// The rows of the main command, and the stages in its help.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

// An option that presets a parameter of a stage (Parameter::option).
struct ParameterOption {
  std::string name;    // "clip"
  std::string value;   // for --help
  std::string preset;  // as the option takes it: "0,0"
  std::string help;
  std::vector<std::string> values;  // of a choice
};
// The stages and their parameters, for --help.
[[nodiscard]] HelpTable stage_help();
// All of them, in the order of the stage table.
[[nodiscard]] const std::vector<ParameterOption>& parameter_options();

[[nodiscard]] std::vector<OptionRow> process_rows();
// Those of them that a batch has.
[[nodiscard]] std::vector<OptionRow> batch_rows();

}  // namespace imgpipe

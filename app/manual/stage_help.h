// Descriptions of stages for imgpipe help and the man page, generated from the table of stages.
#pragma once

#include <string>
#include <vector>

#include "app/options/help_text.h"

namespace imgpipe {

struct Stage;

struct StageHelp {
  std::string title;  // "contrast: min/max stretch"
  std::string rule;
  std::vector<HelpLine> parameters;  // with allowed values and default
  std::vector<HelpLine> facts;       // "Source", "Equal to", "Example", if present
};

[[nodiscard]] StageHelp stage_help_of(const Stage& stage);
// Wraps lines at `width`, unless a single word is longer.
[[nodiscard]] std::string stage_help_text(const Stage& stage, int width);

// The values of --stages, for completions.
struct StageWords {
  std::string stage;
  std::vector<std::string> parameters;  // "clip="
  std::vector<std::string> first;       // values of the first parameter, if it is a choice
  struct Values {
    std::string parameter;
    std::vector<std::string> words;
  };
  std::vector<Values> values;  // of each parameter with named values
};
// Lists every selectable stage in table order.
[[nodiscard]] std::vector<StageWords> stage_words();

}  // namespace imgpipe

// A stage as imgpipe help and the man page tell of it, made of its row in the table of stages.
#pragma once

#include <string>
#include <vector>

#include "app/options/help_text.h"

namespace imgpipe {

struct Stage;

struct StageHelp {
  std::string title;  // "contrast: min/max stretch"
  std::string rule;
  std::vector<HelpLine> parameters;  // with what each may be, and its preset
  std::vector<HelpLine> facts;       // "Source", "Equal to", "Example": those that there are
};

[[nodiscard]] StageHelp stage_help_of(const Stage& stage);
// No line is longer than `width`, but for a single word that is.
[[nodiscard]] std::string stage_help_text(const Stage& stage, int width);

// What --stages takes, for completions.
struct StageWords {
  std::string stage;
  std::vector<std::string> parameters;  // "clip="
  std::vector<std::string> first;       // what the first parameter may be, where that is a choice
  struct Values {
    std::string parameter;
    std::vector<std::string> words;
  };
  std::vector<Values> values;  // of each parameter that has words
};
// Of every stage that can be chosen, in the table's order.
[[nodiscard]] std::vector<StageWords> stage_words();

}  // namespace imgpipe

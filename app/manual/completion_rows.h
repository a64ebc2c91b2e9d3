// The parts of completions that all shells share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/options/command_row.h"
#include "app/options/option_row.h"

namespace imgpipe {

// The kind of value that an option takes.
enum class OptionValueKind { nothing, any, file, directory, choice, stages };
[[nodiscard]] OptionValueKind option_value_kind(const OptionRow& row);

// Returns the first clause of a help text, without characters that are special to a shell.
[[nodiscard]] std::string first_clause(std::string_view help);
// Returns an option's brief text, or the first clause of its help.
[[nodiscard]] std::string short_help(const OptionRow& row);

// "bench synth stats"
template <class Texts>
[[nodiscard]] std::string words_of(const Texts& texts, std::string_view between = " ") {
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : std::string(between)) + std::string(text);
  return all;
}

// The lines of a shell's stages function.
struct StageLines {
  std::string names;       // of all stages, on one line
  std::string parameters;  // of each stage: "clip="
  std::string first;       // values of a stage's first parameter, if it is a choice
  std::string values;      // words of "STAGE:PARAMETER"
};
// Formats a shell's case: its pattern, the words it offers, and whether they extend the existing ones.
using CaseLine = std::string (*)(const std::string& pattern, const std::string& words, bool added);
[[nodiscard]] StageLines stage_lines(CaseLine line);

}  // namespace imgpipe

// What completions of all shells are made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/options/command_row.h"
#include "app/options/option_row.h"

namespace imgpipe {

// What stands behind an option.
enum class Taken { nothing, any, file, folder, choice, stages };
[[nodiscard]] Taken taken_by(const OptionRow& row);

// A help's beginning up to the first mark that ends a sentence or a thought, of letters, digits and harmless
// marks alone.
[[nodiscard]] std::string first_clause(std::string_view help);
// An option in a few words: its brief text, or the first clause of its help.
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
  std::string names;       // of the stages, on one line
  std::string parameters;  // of each stage: "clip=" and so on
  std::string first;       // what its first parameter may be as well, where that is a choice
  std::string values;      // of "STAGE:PARAMETER"
};
// One case of a shell: its pattern, the words that it offers, whether they are added to those that are there.
using CaseLine = std::string (*)(const std::string& pattern, const std::string& words, bool added);
[[nodiscard]] StageLines stage_lines(CaseLine line);

}  // namespace imgpipe

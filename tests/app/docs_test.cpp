// Tests that docs/options.md contains the program's table of stages. tests/checks/docs.py checks the rest of
// README and docs/.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/unreachable.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test::docs_test {
namespace {

constexpr std::string_view kHead = "| stage | parameter | values | preset | meaning |";

std::string code(std::string_view text) {
  return "`" + std::string(text) + "`";
}

// The cell of a choice with more words has the first two and the last.
constexpr std::size_t kMaxWords = 7;

// Returns the values other than words.
std::string numbers_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::integer:
    case Parameter::Kind::decimal:
    case Parameter::Kind::operand:
      return value_text(parameter, parameter.least) + " to " + value_text(parameter, parameter.most) +
             (parameter.kind == Parameter::Kind::operand ? ", or image" : "");
    case Parameter::Kind::image:
      return "image";
    case Parameter::Kind::choice:
      return "";
    case Parameter::Kind::color:
      return "colour";
    case Parameter::Kind::real:
      return "number";
  }
  unreachable();
}

std::string values_of(const Parameter& parameter) {
  const std::span<const std::string_view> words = parameter.words;
  if (words.size() > kMaxWords)
    return code(words[0]) + ", " + code(words[1]) + ", ..., " + code(words.back());
  std::string text = numbers_of(parameter);
  std::string separator = text.empty() ? "" : ", or ";
  for (const std::string_view word : words) {
    text += separator + code(word);
    separator = ", ";
  }
  return text;
}

std::string preset_of(const Parameter& parameter, std::string_view previous) {
  if (parameter.required) return "required";
  if (parameter.like_previous) return "as " + code(previous);
  const std::string text = value_text(parameter, parameter.preset);
  const bool is_number =
      parameter.kind == Parameter::Kind::integer || parameter.kind == Parameter::Kind::decimal;
  return is_number && parameter.preset >= parameter.least ? text : code(text);
}

// The rows that the page must hold, each without its last cell, which only the page defines.
std::vector<std::string> rows_of_the_program() {
  std::vector<std::string> rows;
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    std::string name = code(stage.name);
    std::string_view previous;
    for (const Parameter& parameter : stage.parameters) {
      rows.push_back("| " + name + (name.empty() ? "| " : " | ") + code(parameter.name) + " | " +
                     values_of(parameter) + " | " + preset_of(parameter, previous) + " | ");
      previous = parameter.name;
      name.clear();
    }
    if (stage.parameters.empty()) rows.push_back("| " + name + " | | | | ");
  }
  return rows;
}

// The rows of the page's table without their last cells; a row whose last cell is empty becomes "".
std::vector<std::string> rows_of_the_page() {
  std::ifstream page(std::filesystem::path(kSourceDirectory) / "docs/options.md");
  std::vector<std::string> rows;
  std::string line;
  while (std::getline(page, line) && line != kHead) {
  }
  std::getline(page, line);  // the rule below the header row
  while (std::getline(page, line) && line.starts_with("|")) {
    const std::size_t end = line.rfind(" |");
    const std::size_t last = line.rfind("| ", end - 1);
    rows.push_back(last + 2 < end ? line.substr(0, last + 2) : "");
  }
  return rows;
}

TEST(Docs, StageTableMatchesTheProgram) {
  EXPECT_EQ(rows_of_the_page(), rows_of_the_program());
}

}  // namespace
}  // namespace imgpipe::test::docs_test

#include "app/manual/completion_rows.h"

#include <algorithm>

#include "app/manual/brief_texts.h"
#include "app/manual/stage_help.h"

namespace imgpipe {

OptionValueKind option_value_kind(const OptionRow& row) {
  if (row.value == nullptr) return OptionValueKind::nothing;
  if (option_name(row) == "stages" || option_name(row) == "then") return OptionValueKind::stages;
  if (!row.values.empty()) return OptionValueKind::choice;
  const std::string_view value = row.value;
  if (value == "FILE" || value == "GLOB" || value == "PATH") return OptionValueKind::file;
  return value == "DIR" ? OptionValueKind::directory : OptionValueKind::any;
}

std::string first_clause(std::string_view help) {
  constexpr std::size_t kMost = 70;
  std::size_t end = std::min(help.find_first_of(";:("), help.size());
  end = std::min({end, help.find(". "), help.size()});
  if (end > kMost) end = std::min(help.rfind(' ', kMost), kMost);
  std::string text(help.substr(0, end));
  std::erase_if(text,
                [](char c) { return std::string_view("[]'\"`$\\{}*?!").find(c) != std::string_view::npos; });
  while (text.ends_with(' ') || text.ends_with(',')) text.pop_back();
  return text;
}

std::string short_help(const OptionRow& row) {
  const std::string_view brief = brief_text(option_name(row));
  return brief.empty() ? first_clause(row.help) : std::string(brief);
}

StageLines stage_lines(CaseLine line) {
  StageLines lines;
  for (const StageWords& words : stage_words()) {
    lines.names += (lines.names.empty() ? "" : " ") + words.stage;
    if (!words.parameters.empty()) lines.parameters += line(words.stage, words_of(words.parameters), false);
    if (!words.first.empty()) lines.first += line(words.stage, words_of(words.first), true);
    for (const StageWords::Values& of : words.values)
      lines.values += line(words.stage + ":" + of.parameter, words_of(of.words), false);
  }
  return lines;
}

}  // namespace imgpipe

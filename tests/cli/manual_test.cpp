// Tests imgpipe help, man pages and completions: they cover everything in the tables, and shells and
// formatters accept them.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/command_table.h"
#include "app/exit_code.h"
#include "app/manual/brief_texts.h"
#include "app/manual/completion_rows.h"
#include "app/manual/completions.h"
#include "app/manual/man_page.h"
#include "app/manual/stage_help.h"
#include "app/options/range_file.h"
#include "kernels/stage.h"
#include "kernels/table/stage_texts.h"
#include "pipeline/parameter_text.h"
#include "pipeline/stage_list.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test::manual_test {
namespace {

std::vector<const Stage*> selectable_stages() {
  std::vector<const Stage*> stages;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) stages.push_back(&stage);
  }
  return stages;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

std::string in_roff(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

// Returns the text between `begin` and `end`; `begin` must be present.
std::string part_of(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t at = text.find(begin);
  EXPECT_NE(at, std::string::npos) << begin;
  if (at == std::string::npos) return "";
  const std::size_t from = at + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

using Flags = std::set<std::string>;

Flags flags_of(const CommandRow& command) {
  Flags flags;
  for (const OptionRow& row : command.rows()) {
    for (const std::string& flag : spelled_flags(row)) flags.insert(flag);
  }
  return flags;
}

// Returns the matches of the pattern's group, without roff's backslashes.
Flags flags_in(const std::string& text, const std::string& pattern, const std::string& dashes = "") {
  Flags flags;
  const std::regex of(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), of), end; at != end; ++at) {
    std::string flag = dashes + (*at)[1].str();
    std::erase(flag, '\\');
    flags.insert(flag);
  }
  return flags;
}

class Manual : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    save_text(directory_.file(name), text);
    return directory_.file(name);
  }
  [[nodiscard]] int bash(const std::string& line) const { return run_bash(line, directory_.path().string()); }
  [[nodiscard]] bool is_there(const std::string& program) const {
    return bash("command -v " + program + " >/dev/null") == 0;
  }

  TemporaryDirectory directory_;
};

TEST_F(Manual, EveryStageHasItsText) {
  const std::vector<const Stage*> stages = selectable_stages();
  ASSERT_EQ(stage_texts().size(), stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageText& text = stage_texts()[i];
    EXPECT_EQ(text.stage, stages[i]->name) << "the order of the table";
    EXPECT_FALSE(text.rule.empty()) << text.stage;
    bool shown = false;
    for (const StageRequest& request : parse_stages(text.example))
      shown = shown || request.stage == stages[i];
    EXPECT_TRUE(shown) << text.example;
  }
  for (const Stage& stage : stage_table())
    EXPECT_EQ(stage_text(stage) != nullptr, stage.selectable) << stage.name;
}

TEST_F(Manual, StageHelpMatchesItsRows) {
  for (const Stage* stage : selectable_stages()) {
    for (const int width : {40, 80, 120}) {
      const std::string text = stage_help_text(*stage, width);
      EXPECT_LE(longest_line(text), static_cast<std::size_t>(width)) << text;
      EXPECT_TRUE(text.starts_with(std::string(stage->name) + ": ")) << text;
    }
    const StageHelp help = stage_help_of(*stage);
    const bool ranged = stage->name == kRangedStage;
    ASSERT_EQ(help.parameters.size(), stage->parameters.size() + (ranged ? 1 : 0));
    for (std::size_t i = 0; i < stage->parameters.size(); ++i) {
      const Parameter& row = stage->parameters[i];
      EXPECT_EQ(help.parameters[i].name, row.name);
      EXPECT_NE(help.parameters[i].text.find(allowed_values(row)), std::string::npos);
    }
  }
  const std::string contrast = run_imgpipe({"help", "contrast"}).out;
  for (const char* part :
       {"clip", "0 to 99.999999 with at most 6 decimals", "default: 0, or the value of --clip",
        "default: same as clip", "Source:", "Gonzalez", "Example:", "--stages contrast:clip=0.5"}) {
    std::string words = contrast;
    std::ranges::replace(words, '\n', ' ');
    words.erase(std::unique(words.begin(), words.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
                words.end());
    EXPECT_NE(words.find(part), std::string::npos) << part << "\n" << words;
  }
  EXPECT_NE(run_imgpipe({"help", "depth"}).out.find("required"), std::string::npos);
  EXPECT_NE(run_imgpipe({"help", "invert"}).out.find("Parameters: none"), std::string::npos);
}

TEST_F(Manual, HelpCommandEqualsHelpOption) {
  EXPECT_EQ(run_imgpipe({"help"}).out, run_imgpipe({"--help"}).out);
  for (const std::string_view name : command_names(command_table())) {
    const RunResult help = run_imgpipe({"help", std::string(name)});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_EQ(help.out, run_imgpipe({std::string(name), "--help"}).out);
    EXPECT_NE(run_imgpipe({"--help"}).out.find("imgpipe " + std::string(name)), std::string::npos);
  }
  EXPECT_EQ(run_imgpipe({"help", "nothing"}).exit_code, 2);
}

TEST_F(Manual, ManPagesMatchTheTables) {
  for (const CommandRow& command : command_table()) {
    const std::string page = man_page(command, command_table());
    EXPECT_EQ(flags_in(part_of(page, ".SH OPTIONS\n", ".SH "), "\\\\fB((?:\\\\-)+[a-z\\\\-]+)\\\\fR"),
              flags_of(command))
        << command.name;
    std::string codes;
    for (const ExitMeaning& exit : kExitMeanings) {
      if (std::ranges::find(command.exits, exit.code) != command.exits.end())
        codes += ".TP\n\\fB" + std::string(exit.name) + "\\fR\n" + in_roff(std::string(exit.meaning)) + "\n";
    }
    EXPECT_EQ(part_of(page, ".SH EXIT STATUS\n", ".SH "), codes) << command.name;
    for (const char* section : {".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH OPTIONS\n",
                                ".SH EXIT STATUS\n", ".SH SEE ALSO\n"}) {
      EXPECT_NE(page.find(section), std::string::npos) << section;
    }
    EXPECT_EQ(run_imgpipe({"docs", "man", std::string(command.name)}).out, page);
  }
  const std::string page = man_page(command_table().front(), command_table());
  for (const Stage* stage : selectable_stages()) {
    EXPECT_NE(page.find(".SS " + std::string(stage->name) + ": "), std::string::npos) << stage->name;
    for (const Parameter& row : stage->parameters)
      EXPECT_NE(page.find("\\fB" + in_roff(std::string(row.name)) + "\\fR"), std::string::npos) << row.name;
  }
}

TEST_F(Manual, FormattersAcceptManPages) {
  const bool groff = is_there("groff");
  const bool mandoc = is_there("mandoc");
  if (!groff && !mandoc) GTEST_SKIP() << "neither groff nor mandoc is installed";
  for (const CommandRow& command : command_table()) {
    const std::string path = file(man_name(command) + ".1", man_page(command, command_table()));
    if (groff) {
      EXPECT_EQ(bash("groff -man -ww -z '" + path + "' 2>said && ! test -s said"), 0)
          << command.name << ": " << load_text(directory_.file("said"));
    }
    // A source tree without git history has no date.
    if (mandoc) {
      EXPECT_EQ(bash("mandoc -Tlint -Wwarning '" + path + "' | grep -v 'missing date' >said; ! test -s said"),
                0)
          << command.name << ": " << load_text(directory_.file("said"));
    }
  }
}

TEST_F(Manual, CompletionsListExactlyEachCommandsOptions) {
  const std::string bash_script = part_of(bash_completion(command_table()), "_imgpipe_flags() {", "\n}\n");
  const std::string bash_options = part_of(bash_completion(command_table()), "_imgpipe_option() {", "\n}\n");
  const std::string zsh = part_of(zsh_completion(command_table()), "_imgpipe_arguments() {", "\n}\n");
  std::istringstream fish_lines(fish_completion(command_table()));
  std::map<std::string, std::string> fish;  // by command
  for (std::string line; std::getline(fish_lines, line);) {
    if (line.find("'__imgpipe_is ") != std::string::npos)
      fish[part_of(line, "'__imgpipe_is ", "'")] += part_of(line, "'__imgpipe_is ", " -d ") + "\n";
  }
  for (const CommandRow& command : command_table()) {
    const std::string name(command.name);
    const Flags wanted = flags_of(command);
    EXPECT_EQ(flags_in(part_of(bash_script, "    \"" + name + "\") echo \"", "\""), "(-[a-z-]+)"), wanted)
        << name;
    EXPECT_EQ(flags_in(part_of(zsh, "    ('" + name + "')\n", ";;"), "'\\*(-[a-z-]+)"), wanted) << name;
    const std::string of_fish = fish[name.empty() ? "main" : name];
    Flags fish_flags = flags_in(of_fish, " -l ([a-z-]+)", "--");
    fish_flags.merge(flags_in(of_fish, " -s ([a-z])", "-"));
    EXPECT_EQ(fish_flags, wanted) << name;
    Flags with_values;
    for (const OptionRow& row : command.rows()) {
      if (row.value == nullptr) continue;
      for (const std::string& flag : spelled_flags(row)) with_values.insert(flag);
    }
    EXPECT_EQ(flags_in(bash_options, "\"" + name + " (-[a-z-]+)\""), with_values) << name;
  }
  EXPECT_EQ(fish.size(), command_table().size());
}

TEST_F(Manual, CompletionsDescribeOptionsInAFewWords) {
  for (const CommandRow& command : command_table()) {
    for (const OptionRow& row : command.rows()) {
      const std::string text = short_help(row);
      const std::string of = std::string(command.name) + " " + row.flags + ": " + text;
      EXPECT_GE(std::ranges::count(text, ' '), 1) << of;
      EXPECT_LE(text.size(), 70U) << of;
      EXPECT_EQ(text.find_first_of("[]'\"`$\\{}*?!:"), std::string::npos) << of;
      const std::string last = text.substr(text.rfind(' ') + 1);
      for (const char* word :
           {"a", "the", "of", "as", "by", "or", "and", "with", "to", "for", "in", "from", "such"})
        EXPECT_NE(last, word) << of;
      // The text must be defined separately, or be the whole first clause of the help.
      if (text == brief_text(option_name(row))) continue;
      EXPECT_TRUE(row.help.starts_with(text)) << of;
      const std::string rest = row.help.substr(std::min(text.size(), row.help.size()));
      const std::size_t next = rest.find_first_not_of(", ");
      EXPECT_TRUE(next == std::string::npos || std::string(";:.(").find(rest[next]) != std::string::npos)
          << of;
    }
  }
  for (const BriefText& brief : brief_texts()) {
    const bool known = std::ranges::any_of(command_table(), [&](const CommandRow& command) {
      return std::ranges::any_of(command.rows(),
                                 [&](const OptionRow& row) { return option_name(row) == brief.option; });
    });
    EXPECT_TRUE(known) << brief.option;
  }
}

TEST_F(Manual, CompletionsListEveryStageAndCommand) {
  const std::string bash_script = bash_completion(command_table());
  const std::string zsh = zsh_completion(command_table());
  const std::string fish = fish_completion(command_table());
  for (const CommandRow& command : command_table()) {
    for (const std::string& script : {bash_script, zsh, fish})
      EXPECT_NE(script.find(command.name), std::string::npos) << command.name;
  }
  for (const Stage* stage : selectable_stages()) {
    const std::string described = std::string(stage->name) + "\\t'" + first_clause(stage->summary) + "'";
    EXPECT_NE(fish.find(described), std::string::npos) << described;
    for (const Parameter& row : stage->parameters) {
      for (const std::string_view word : row.words) {
        for (const std::string& script : {bash_script, zsh, fish})
          EXPECT_NE(script.find(word), std::string::npos) << stage->name << ":" << word;
      }
    }
  }
  EXPECT_EQ(run_imgpipe({"docs", "bash"}).out, bash_script);
  EXPECT_EQ(run_imgpipe({"docs", "zsh"}).out, zsh);
  EXPECT_EQ(run_imgpipe({"docs", "fish"}).out, fish);
}

TEST_F(Manual, ShellsAcceptTheirCompletions) {
  EXPECT_EQ(bash("bash -n '" + file("imgpipe", bash_completion(command_table())) + "'"), 0);
  std::string missing;
  for (const std::string shell : {"zsh", "fish"}) {
    if (!is_there(shell)) {
      missing += (missing.empty() ? "" : " and ") + shell;
      continue;
    }
    const std::string path = file(
        "of_" + shell, shell == "zsh" ? zsh_completion(command_table()) : fish_completion(command_table()));
    EXPECT_EQ(bash(shell + " -n '" + path + "' 2>said && ! test -s said"), 0)
        << load_text(directory_.file("said"));
  }
  if (!missing.empty()) GTEST_SKIP() << missing << " not installed";
}

}  // namespace
}  // namespace imgpipe::test::manual_test

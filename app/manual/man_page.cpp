#include "app/manual/man_page.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/build_id.h"
#include "app/exit_code.h"
#include "app/manual/stage_help.h"
#include "app/options/help_text.h"
#include "app/version.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

struct Row {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array<Row, 4> kVariables{
    {{"IMGPIPE_SIMD", "The instruction set for the CPU's code, one of those that --version lists."},
     {"NO_COLOR", "No colour."},
     {"COLUMNS", "Width of help texts."},
     {"XDG_CACHE_HOME", "Directory where imgpipe devices --calibrate stores its measurements."}}};

// Escapes characters that roff would interpret, or print as different characters.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string item(const std::string& name, std::string_view text) {
  return ".TP\n" + name + "\n" + roff(text) + "\n";
}

// Formats a call with the command's words in bold.
std::string call(const CommandRow& command, std::string_view text) {
  const std::string own = full_name(command);
  const std::string name = text.starts_with(own) ? own : "imgpipe";
  return bold(name) + roff(text.substr(name.size()));
}

std::string synopsis(const CommandRow& command) {
  std::string text = ".SH SYNOPSIS\n";
  for (const HelpLine& row : command.usage)
    text += (&row == &command.usage.front() ? "" : ".br\n") + call(command, row.name) + "\n";
  return text;
}

std::string description(const CommandRow& command) {
  std::string text = ".SH DESCRIPTION\n" + roff(command.description) + "\n";
  for (const HelpLine& row : command.usage) {
    if (!row.text.empty()) text += item(call(command, row.name), row.text);
  }
  return text;
}

std::string stages() {
  std::string text =
      ".SH STAGES\nA step of \\fB\\-\\-stages\\fR is a stage, and values of its parameters after colons: "
      "\\fINAME\\fR, \\fINAME\\fR:\\fIVALUE\\fR, \\fINAME\\fR:\\fIPARAMETER\\fR=\\fIVALUE\\fR.\n";
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    const StageHelp help = stage_help_of(stage);
    text += ".SS " + roff(help.title) + "\n" + roff(help.rule) + "\n";
    for (const HelpLine& line : help.parameters) text += item(bold(line.name), line.text);
    for (const HelpLine& line : help.facts) text += ".PP\n" + roff(line.name + ": " + line.text) + "\n";
  }
  return text;
}

std::string options(const CommandRow& command) {
  const std::vector<OptionRow> rows = command.rows();
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups_of(rows)) {
    text += ".SS " + roff(group) + "\n";
    for (const OptionRow& row : rows) {
      if (row.group != group) continue;
      std::string flags;
      for (const std::string& flag : spelled_flags(row)) flags += (flags.empty() ? "" : ", ") + bold(flag);
      if (row.value != nullptr) flags += " \\fI" + roff(row.value) + "\\fR";
      text += item(flags, option_text(row));
    }
  }
  return text;
}

std::string exit_status(const CommandRow& command) {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitMeaning& row : kExitMeanings) {
    if (std::ranges::find(command.exits, row.code) != command.exits.end())
      text += item(bold(row.name), row.meaning);
  }
  return text;
}

std::string environment() {
  std::string text = ".SH ENVIRONMENT\n";
  for (const Row& row : kVariables) text += item(bold(row.name), row.meaning);
  return text;
}

std::string see_also(const CommandRow& command, Commands commands) {
  std::string text;
  for (const CommandRow& other : commands) {
    if (&other == &command) continue;
    text += (text.empty() ? "" : " ,\n") + (".BR " + roff(man_name(other)) + " (1)");
  }
  return ".SH SEE ALSO\n" + text + "\n";
}

}  // namespace

std::string man_name(const CommandRow& command) {
  return command.name.empty() ? "imgpipe" : "imgpipe-" + std::string(command.name);
}

std::string man_page(const CommandRow& command, Commands commands) {
  const BuildInfo build = build_info();
  std::string title = man_name(command);
  std::ranges::transform(title, title.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string page = ".\\\" Made by imgpipe docs man.\n.TH " + roff(title) + " 1 \"" + kCommitDate +
                     "\" \"imgpipe " + build.version + "\" \"User Commands\"\n.nh\n.ad l\n";
  page += ".SH NAME\n" + roff(man_name(command)) + " \\- " + roff(command.summary) + "\n";
  page += synopsis(command) + description(command);
  if (command.name.empty()) page += stages();
  return page + options(command) + exit_status(command) + environment() + see_also(command, commands);
}

}  // namespace imgpipe

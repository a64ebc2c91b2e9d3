#include "app/manual/completion_rows.h"
#include "app/manual/completions.h"
#include "app/manual/stage_help.h"
#include "app/options/command_row.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

constexpr std::string_view kFishHead = R"fish(function __imgpipe_command
    set -l words (commandline -opc)
    if set -q words[2]; and contains -- $words[2] $__imgpipe_commands
        echo $words[2]
    else
        echo main
    end
end

function __imgpipe_is
    test (__imgpipe_command) = $argv[1]
end

function __imgpipe_after
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end

function __imgpipe_first
    test (count (commandline -opc)) -eq 1
end

)fish";

std::string fish_value(const OptionRow& row) {
  switch (option_value_kind(row)) {
    case OptionValueKind::nothing:
      return "";
    case OptionValueKind::any:
      return " -x";
    case OptionValueKind::file:
      return " -r -F";
    case OptionValueKind::directory:
      return " -x -a '(__fish_complete_directories)'";
    case OptionValueKind::choice:
      return " -x -a '" + words_of(row.values) + "'";
    case OptionValueKind::stages:
      break;
  }
  return " -x -a '(__imgpipe_stages)'";
}

std::string options(Commands commands) {
  std::string text;
  for (const CommandRow& command : commands) {
    const std::string name = command.name.empty() ? "main" : std::string(command.name);
    const std::string begin = "complete -c imgpipe -n '__imgpipe_is " + name + "'";
    for (const OptionRow& row : command.rows()) {
      text += begin;
      for (const std::string& flag : spelled_flags(row))
        text += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
      text += fish_value(row) + " -d '" + short_help(row) + "'\n";
    }
    if (command.topics == nullptr) continue;
    text += begin + " -f\n";
    for (const TopicWords& topics : command.topics(commands))
      text += "complete -c imgpipe -n '__imgpipe_after " + topics.preceding_words + "' -f -a '" +
              words_of(topics.words) + "'\n";
  }
  return text;
}

std::string command_lines(Commands commands) {
  std::string text;
  for (const CommandRow& command : commands) {
    if (command.name.empty()) continue;
    text += "complete -c imgpipe -n __imgpipe_first -a " + std::string(command.name) + " -d '" +
            first_clause(command.summary) + "'\n";
  }
  return text;
}

std::string fish_case_line(const std::string& pattern, const std::string& words, bool added) {
  return "                case " + pattern + "\n                    set " + (added ? "-a " : "") +
         "offered " + words + "\n";
}

// Returns the stages' names, each followed by a tab and its summary.
std::string described_stages() {
  std::string text;
  for (const StageWords& words : stage_words())
    text += (text.empty() ? "" : " ") + words.stage + "\\t'" +
            first_clause(find_stage(words.stage)->summary) + "'";
  return text;
}

std::string fish_stages_function() {
  const StageLines lines = stage_lines(fish_case_line);
  return "function __imgpipe_stages\n"
         "    set -l value (commandline -ct | string replace -r '^--[^=]*=' '')\n"
         "    set -l step (string replace -r '^.*,' '' -- \"$value\")\n"
         "    set -l head (string replace -r '[^,]*$' '' -- \"$value\")\n"
         "    set -l offered\n"
         "    if not string match -q '*:*' -- \"$step\"\n"
         "        set offered " +
         described_stages() +
         "\n"
         "    else\n"
         "        set -l stage (string replace -r ':.*' '' -- \"$step\")\n"
         "        set -l part (string replace -r '^.*:' '' -- \"$step\")\n"
         "        set head \"$head\"(string replace -r '[^:]*$' '' -- \"$step\")\n"
         "        if string match -q '*=*' -- \"$part\"\n"
         "            set -l name (string replace -r '=.*' '' -- \"$part\")\n"
         "            set head \"$head$name=\"\n"
         "            switch \"$stage:$name\"\n" +
         lines.values +
         "            end\n"
         "        else\n"
         "            switch \"$stage\"\n" +
         lines.parameters +
         "            end\n"
         "            if not string match -q '*:*:*' -- \"$step\"\n"
         "                switch \"$stage\"\n" +
         lines.first +
         "                end\n"
         "            end\n"
         "        end\n"
         "    end\n"
         "    for word in $offered\n"
         "        echo \"$head$word\"\n"
         "    end\n"
         "end\n\n";
}

}  // namespace

std::string fish_completion(Commands commands) {
  return "# Completes imgpipe in fish. Made by: imgpipe docs fish\n\nset -g __imgpipe_commands " +
         words_of(command_names(commands)) + "\n\n" + std::string(kFishHead) + fish_stages_function() +
         command_lines(commands) + options(commands);
}

}  // namespace imgpipe

#include "app/manual/completion_rows.h"
#include "app/manual/completions.h"
#include "app/options/command_row.h"

namespace imgpipe {
namespace {

constexpr std::string_view kZshHead = R"zsh(#compdef imgpipe
# Completes imgpipe in zsh. Made by: imgpipe docs zsh

)zsh";

constexpr std::string_view kZshTail = R"zsh(
_imgpipe() {
  local curcontext="$curcontext" command=""
  if (( CURRENT > 2 )) && [[ -n ${_imgpipe_commands[(re)$words[2]]} ]]; then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  _imgpipe_arguments "$command"
}

_imgpipe_first() {
  _alternative 'commands:command:compadd -a _imgpipe_commands' 'files:file:_files'
}

_imgpipe "$@"
)zsh";

// Escapes colons for a list of choices.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == ':' ? "\\:" : std::string(1, c);
  return out;
}

std::string zsh_value(const OptionRow& row) {
  switch (option_value_kind(row)) {
    case OptionValueKind::nothing:
      return "";
    case OptionValueKind::any:
      return ":" + std::string(row.value) + ": ";
    case OptionValueKind::file:
      return ":" + std::string(row.value) + ":_files";
    case OptionValueKind::directory:
      return ":" + std::string(row.value) + ":_files -/";
    case OptionValueKind::choice:
      return ":" + std::string(row.value) + ":(" + escaped(words_of(row.values)) + ")";
    case OptionValueKind::stages:
      break;
  }
  return ":" + std::string(row.value) + ":_imgpipe_stages";
}

// "'*--jobs=[Images at a time]:N: '"; for a letter "'*-j+[...]...'".
std::string specification(const OptionRow& row, const std::string& flag) {
  const std::string mark = row.value == nullptr ? "" : flag.starts_with("--") ? "=" : "+";
  return " \\\n        '*" + flag + mark + "[" + short_help(row) + "]" + zsh_value(row) + "'";
}

std::string arguments_function(Commands commands) {
  std::string text = "_imgpipe_arguments() {\n  case \"$1\" in\n";
  for (const CommandRow& command : commands) {
    text += "    ('" + std::string(command.name) + "')\n      _arguments -s -S";
    for (const OptionRow& row : command.rows()) {
      for (const std::string& flag : spelled_flags(row)) text += specification(row, flag);
    }
    if (command.name.empty()) text += " \\\n        '1: :_imgpipe_first'";
    if (command.topics != nullptr) {
      text += " \\\n        '1:topic:_imgpipe_topics' '2:topic:_imgpipe_topics'";
    } else if (!command.positional.empty()) {
      text += " \\\n        '*:file:_files'";
    }
    text += "\n      ;;\n";
  }
  return text + "  esac\n}\n\n";
}

// Returns a zsh function that selects the completions by the words before the cursor.
std::string zsh_topics_function(Commands commands) {
  std::string text = "_imgpipe_topics() {\n  case \"${words[1,CURRENT-1]}\" in\n";
  for (const CommandRow& command : commands) {
    if (command.topics == nullptr) continue;
    for (const TopicWords& topics : command.topics(commands))
      text += "    ('" + topics.preceding_words + "') compadd -- " + words_of(topics.words) + " ;;\n";
  }
  return text + "  esac\n}\n\n";
}

std::string zsh_case_line(const std::string& pattern, const std::string& words, bool added) {
  return "      (" + pattern + ") offered" + (added ? "+=(" : "=(") + words + ") ;;\n";
}

std::string zsh_stages_function() {
  const StageLines lines = stage_lines(zsh_case_line);
  return "_imgpipe_stages() {\n"
         "  local step stage name\n"
         "  local -a offered\n"
         "  compset -P '*,'\n"
         "  step=$PREFIX\n"
         "  if [[ $step != *:* ]]; then\n"
         "    offered=(" +
         lines.names +
         ")\n"
         "  else\n"
         "    stage=${step%%:*}\n"
         "    compset -P '*:'\n"
         "    if [[ $PREFIX == *=* ]]; then\n"
         "      name=${PREFIX%%=*}\n"
         "      compset -P '*='\n"
         "      case \"$stage:$name\" in\n" +
         lines.values +
         "      esac\n"
         "    else\n"
         "      case \"$stage\" in\n" +
         lines.parameters +
         "      esac\n"
         "      [[ $step == *:*:* ]] || case \"$stage\" in\n" +
         lines.first +
         "      esac\n"
         "    fi\n"
         "  fi\n"
         "  compadd -S '' -a offered\n"
         "}\n";
}

}  // namespace

std::string zsh_completion(Commands commands) {
  return std::string(kZshHead) + "typeset -ga _imgpipe_commands=(" + words_of(command_names(commands)) +
         ")\n\n" + arguments_function(commands) + zsh_topics_function(commands) + zsh_stages_function() +
         std::string(kZshTail);
}

}  // namespace imgpipe

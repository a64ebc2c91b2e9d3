#include "app/manual/completion_rows.h"
#include "app/manual/completions.h"
#include "app/options/command_row.h"

namespace imgpipe {
namespace {

// Uses no functions of the bash-completion package.
constexpr std::string_view kBashHead = R"bash(# Completes imgpipe in bash. Made by: imgpipe docs bash

# Adds to COMPREPLY the words in $1 that start with $value after $head. Readline replaces only the text after
# the last : or =, if these break words.
_imgpipe_reply() {
  local word all breaks="${COMP_WORDBREAKS-}" kept=""
  breaks="${breaks//[^:=]/}"
  [[ -n $breaks && $typed == *[$breaks]* ]] && kept="${typed%"${typed##*[$breaks]}"}"
  for word in $1; do
    all="$head$word"
    [[ $all == "$value"* ]] || continue
    all="${typed%"$value"}$all"
    COMPREPLY+=("${all#"$kept"}")
  done
}

)bash";

constexpr std::string_view kBashTail = R"bash(
_imgpipe() {
  local IFS=$' \t\n'
  local line="${COMP_LINE:0:COMP_POINT}" typed value head="" command="" option="" kind="" choices="" words
  typed="${line##*[[:space:]]}"
  value="$typed"
  COMPREPLY=()
  read -ra words <<<"${line:0:${#line}-${#typed}}"
  [[ -n ${words[1]-} && " $_imgpipe_commands " == *" ${words[1]} "* ]] && command="${words[1]}"
  if [[ $typed == --*=* ]]; then
    option="${typed%%=*}"
    value="${typed#*=}"
  elif ((${#words[@]} > 1)); then
    option="${words[-1]}"
  fi
  _imgpipe_option "$command $option"
  case "$kind" in
    stages)
      _imgpipe_stages
      compopt -o nospace 2>/dev/null
      ;;
    choice)
      _imgpipe_reply "$choices"
      [[ ${COMPREPLY[*]-} == *: ]] && compopt -o nospace 2>/dev/null
      ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$value") && compopt -o filenames 2>/dev/null ;;
    file) ;; # by default: bash's own, of names of files
    any) compopt +o default +o bashdefault 2>/dev/null ;;
    *)
      if [[ $typed == -* ]]; then
        _imgpipe_reply "$(_imgpipe_flags "$command")"
      elif _imgpipe_topics "${words[*]:1}"; then
        compopt +o default +o bashdefault 2>/dev/null
        _imgpipe_reply "$choices"
      elif ((${#words[@]} == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$_imgpipe_commands" -- "$typed"; compgen -f -- "$typed")
        compopt -o filenames 2>/dev/null
      fi
      ;;
  esac
}

complete -o bashdefault -o default -F _imgpipe imgpipe
)bash";

std::string kind_of(const OptionRow& row) {
  switch (option_value_kind(row)) {
    case OptionValueKind::nothing:
      return "";
    case OptionValueKind::any:
      return "kind=any";
    case OptionValueKind::file:
      return "kind=file";
    case OptionValueKind::directory:
      return "kind=folder";
    case OptionValueKind::choice:
      return "kind=choice choices=\"" + words_of(row.values) + "\"";
    case OptionValueKind::stages:
      break;
  }
  return "kind=stages";
}

// Returns a bash function that sets kind and choices for an argument "COMMAND OPTION".
std::string option_function(Commands commands) {
  std::string text = "_imgpipe_option() {\n  case \"$1\" in\n";
  for (const CommandRow& command : commands) {
    for (const OptionRow& row : command.rows()) {
      const std::string kind = kind_of(row);
      if (kind.empty()) continue;
      std::string patterns;
      for (const std::string& flag : spelled_flags(row))
        patterns.append(patterns.empty() ? "\"" : " | \"")
            .append(command.name)
            .append(" ")
            .append(flag)
            .append("\"");
      text.append("    ").append(patterns).append(") ").append(kind).append(" ;;\n");
    }
  }
  return text + "  esac\n}\n\n";
}

std::string flags_function(Commands commands) {
  std::string text = "_imgpipe_flags() {\n  case \"$1\" in\n";
  for (const CommandRow& command : commands) {
    std::string flags;
    for (const OptionRow& row : command.rows())
      flags += (flags.empty() ? "" : " ") + words_of(spelled_flags(row));
    text += "    \"" + std::string(command.name) + "\") echo \"" + flags + "\" ;;\n";
  }
  return text + "  esac\n}\n\n";
}

// Returns a bash function that sets choices from the words after imgpipe. It returns false unless these begin
// with a command that has topics.
std::string bash_topics_function(Commands commands) {
  std::string text = "_imgpipe_topics() {\n  case \"$1\" in\n";
  for (const CommandRow& command : commands) {
    if (command.topics == nullptr) continue;
    for (const TopicWords& topics : command.topics(commands))
      text += "    \"" + topics.preceding_words + "\") choices=\"" + words_of(topics.words) + "\" ;;\n";
    text += "    \"" + std::string(command.name) + " \"*) ;;\n";
  }
  return text + "    *) return 1 ;;\n  esac\n}\n\n";
}

std::string bash_case_line(const std::string& pattern, const std::string& words, bool added) {
  return "      " + pattern + ") words" + (added ? "+=\" " : "=\"") + words + "\" ;;\n";
}

std::string bash_stages_function() {
  const StageLines lines = stage_lines(bash_case_line);
  return "_imgpipe_stages() {\n"
         "  local step=\"${value##*,}\" stage part words=\"\"\n"
         "  head=\"${value%\"$step\"}\"\n"
         "  if [[ $step != *:* ]]; then\n"
         "    _imgpipe_reply \"" +
         lines.names +
         "\"\n"
         "    return\n"
         "  fi\n"
         "  stage=\"${step%%:*}\"\n"
         "  part=\"${step##*:}\"\n"
         "  head+=\"${step%\"$part\"}\"\n"
         "  if [[ $part == *=* ]]; then\n"
         "    head+=\"${part%%=*}=\"\n"
         "    case \"$stage:${part%%=*}\" in\n" +
         lines.values +
         "    esac\n"
         "  else\n"
         "    case \"$stage\" in\n" +
         lines.parameters +
         "    esac\n"
         "    [[ $step == *:*:* ]] || case \"$stage\" in\n" +
         lines.first +
         "    esac\n"
         "  fi\n"
         "  _imgpipe_reply \"$words\"\n"
         "}\n";
}

}  // namespace

std::string bash_completion(Commands commands) {
  return std::string(kBashHead) + "_imgpipe_commands=\"" + words_of(command_names(commands)) + "\"\n\n" +
         option_function(commands) + flags_function(commands) + bash_topics_function(commands) +
         bash_stages_function() + std::string(kBashTail);
}

}  // namespace imgpipe

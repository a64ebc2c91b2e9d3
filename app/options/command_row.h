// A command: how to read its options and run it, and its texts for --help, man pages and completions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/exit_code.h"
#include "app/options/logging_options.h"
#include "app/options/option_row.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

class Parser;
struct CommandRow;
// All commands, the main one first (app/command_table.h).
using Commands = std::span<const CommandRow>;

// A command line that was parsed and checked.
struct ReadyCommand {
  std::function<int(const EngineFactory& factory)> run;  // throws Error or returns an exit code
  std::optional<LoggingOptions> logging{};               // nullopt: the command does not log
};
template <class Options>
[[nodiscard]] ReadyCommand ready(Options options, int (*run)(const Options&)) {
  const LoggingOptions logging = options.logging;
  return {[options = std::move(options), run](const EngineFactory&) { return run(options); }, logging};
}
// Returns a command that prints a text to stdout.
[[nodiscard]] ReadyCommand ready(std::string text);

// The words that may follow others, such as those after "docs" and "docs man".
struct TopicWords {
  std::string preceding_words;
  std::vector<std::string> words;
};

struct CommandRow {
  std::string_view name;  // the word after imgpipe; empty: the main command
  std::string summary;    // in lists of commands
  std::string description;
  std::vector<HelpLine> usage;
  std::string call{};  // short form of the usage in the main command's help; empty: the first usage line
  std::vector<std::string> positional{};  // arguments that are not options: "input", "output"
  bool accepts_more_arguments = false;    // further arguments after them
  bool requires_arguments = true;
  std::vector<const char*> or_options{};  // with one of these, positional arguments are optional
  std::vector<OptionRow> (*rows)() = nullptr;
  HelpTable (*help_table)() = nullptr;
  // The text of -h. nullptr: that of --help.
  std::string (*brief_help)(const CommandRow& command, int width) = nullptr;
  // For completions of commands that take no files: the words that may follow.
  std::vector<TopicWords> (*topics)(Commands commands) = nullptr;
  std::vector<ExitCode> exits{kExitDone, kExitInput, kExitUsage, kExitOutput, kExitSignalBase};
  ReadyCommand (*read)(const Parser& parser) = nullptr;  // throws Error(usage) that says what to change
};

// "imgpipe bench"
[[nodiscard]] std::string full_name(const CommandRow& command);
// Returns nullptr if no command has that name.
[[nodiscard]] const CommandRow* find_command(Commands commands, std::string_view name);
// Returns all names except the main command's.
[[nodiscard]] std::vector<std::string_view> command_names(Commands commands);

[[nodiscard]] std::vector<ExitCode> all_exits();

// Parses the arguments after a command's name. Throws Error(usage) with a message that says what to change.
[[nodiscard]] ReadyCommand read_command(const CommandRow& command, const std::vector<std::string>& arguments,
                                        Commands commands = {});

}  // namespace imgpipe

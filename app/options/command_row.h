// A command: what reads its options and runs it, and what --help, help pages and completions say.
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

// A command line that was read and checked.
struct ReadyCommand {
  std::function<int(const EngineFactory& factory)> run;  // throws Error or returns an exit code
  std::optional<LoggingOptions> logging{};               // nullopt: the command does not log
};
// Runs a command with its own options.
template <class Options>
[[nodiscard]] ReadyCommand ready(Options options, int (*run)(const Options&)) {
  const LoggingOptions logging = options.logging;
  return {[options = std::move(options), run](const EngineFactory&) { return run(options); }, logging};
}
// Prints a text to stdout.
[[nodiscard]] ReadyCommand ready(std::string text);

// Words that can follow others: "docs" and "docs man", with words each.
struct TopicWords {
  std::string behind;
  std::vector<std::string> words;
};

struct CommandRow {
  std::string_view name;  // the word after imgpipe; empty: the main command, which needs none
  std::string summary;    // in lists of commands
  std::string description;
  std::vector<HelpLine> usage;
  std::string call{};                     // all of them as one, in the main command's usage; empty: the first
  std::vector<std::string> positional{};  // arguments that are not options: "input", "output"
  bool takes_more = false;                // further arguments after them
  bool needs_all = true;
  const char* or_option = nullptr;  // the option that may stand in for the last of them
  std::vector<OptionRow> (*rows)() = nullptr;
  HelpTable (*help_table)() = nullptr;
  // The text of -h. nullptr: that of --help.
  std::string (*brief_help)(const CommandRow& command, int width) = nullptr;
  // For completions of a command that takes no files: what can follow it, and its words.
  std::vector<TopicWords> (*topics)(Commands commands) = nullptr;
  std::vector<ExitCode> exits{kExitDone, kExitInput, kExitUsage, kExitOutput, kExitSignalBase};
  ReadyCommand (*read)(const Parser& parser) = nullptr;  // throws Error(usage) that says what to change
};

// "imgpipe bench"
[[nodiscard]] std::string full_name(const CommandRow& command);
// nullptr: no command has that name.
[[nodiscard]] const CommandRow* find_command(Commands commands, std::string_view name);
// All but the main command's.
[[nodiscard]] std::vector<std::string_view> command_names(Commands commands);

// The exit codes of a command that may end in any way.
[[nodiscard]] std::vector<ExitCode> all_exits();

// Reads the arguments after a command's name. Throws Error(usage) that says what to change.
[[nodiscard]] ReadyCommand read_command(const CommandRow& command, const std::vector<std::string>& arguments,
                                        Commands commands = {});

}  // namespace imgpipe

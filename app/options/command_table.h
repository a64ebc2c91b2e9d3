// The commands, one row each: what parses them, what --help, help pages and completions say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/exit_code.h"
#include "app/options/command_line.h"
#include "app/options/option_table.h"

namespace imgpipe {

struct CommandRow {
  std::string_view name;  // what is typed behind imgpipe; empty: the main job, which is no word
  std::string summary;    // in lists of commands
  std::string description;
  std::vector<UsageRow> usage;
  std::string call{};                     // all of them as one, in the main job's usage; empty: the first
  std::vector<std::string> positional{};  // what stands without an option: "input", "output"
  std::vector<OptionRow> (*rows)() = nullptr;
  // What that may be behind a word of it, or at first (""), where it is no file: for completions.
  std::vector<std::string> (*topics)(std::string_view before) = nullptr;
  std::vector<ExitCode> exits{};                                          // how it can end
  Command (*parse)(const std::vector<std::string>& arguments) = nullptr;  // behind its name
};

// "imgpipe bench"
[[nodiscard]] std::string full_name(const CommandRow& command);

// All of them, the main job first. The only list of commands.
[[nodiscard]] const std::vector<CommandRow>& command_table();
// nullptr when there is none of that name.
[[nodiscard]] const CommandRow* find_command(std::string_view name);
// Of the others than the main job.
[[nodiscard]] std::vector<std::string_view> command_names();

}  // namespace imgpipe

#include "app/options/command_row.h"

#include <algorithm>

#include "app/files/text_file.h"
#include "app/options/option_parser.h"
#include "images/error.h"

namespace imgpipe {

ReadyCommand ready(std::string text) {
  return {[text = std::move(text)](const EngineFactory&) -> int {
    print_text(text);
    return kExitDone;
  }};
}

std::string full_name(const CommandRow& command) {
  return command.name.empty() ? "imgpipe" : "imgpipe " + std::string(command.name);
}

const CommandRow* find_command(Commands commands, std::string_view name) {
  const auto command = std::ranges::find(commands, name, &CommandRow::name);
  return command == commands.end() ? nullptr : &*command;
}

std::vector<std::string_view> command_names(Commands commands) {
  std::vector<std::string_view> names;
  for (const CommandRow& command : commands) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return names;
}

std::vector<ExitCode> all_exits() {
  std::vector<ExitCode> exits;
  exits.reserve(kExitMeanings.size());
  for (const ExitMeaning& exit : kExitMeanings) exits.push_back(exit.code);
  return exits;
}

ReadyCommand read_command(const CommandRow& command, const std::vector<std::string>& arguments,
                          Commands commands) {
  Parser parser(command, arguments, commands);
  try {
    if (std::optional<std::string> text = parser.parse()) return ready(*std::move(text));
    return command.read(parser);
  } catch (const Error& error) {
    throw Error(error.kind(), parser.given().with_position(error.what()));
  }
}

}  // namespace imgpipe

#include "app/command.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "app/command_table.h"
#include "app/log.h"
#include "app/options/option_parser.h"
#include "app/options/parsed_arguments.h"
#include "app/program.h"
#include "images/error.h"
#include "images/names.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/stage_list.h"

namespace imgpipe {
namespace {

constexpr std::string_view kForeignCommands[] = {"convert", "compare", "diff", "identify", "mogrify"};

// Returns true if the first argument looks like a mistyped or foreign command: not an option, not an existing
// file, and without the characters of a path or pattern.
bool may_be_command(const std::string& argument) {
  std::error_code ignored;
  return !argument.starts_with('-') && argument.find_first_of("./*?[{") == std::string::npos &&
         (!nearest_name(argument, command_names(command_table())).empty() ||
          stage_meant(argument) != nullptr ||
          std::ranges::find(kForeignCommands, argument) != std::end(kForeignCommands)) &&
         !std::filesystem::exists(argument, ignored);
}

// Throws the main command's error about an option's value, provided that all options are known.
void check_as_main_command(const std::vector<std::string>& arguments) {
  const CommandRow& command = command_table().front();
  std::optional<Parser> parser;
  try {
    parser.emplace(command, arguments, command_table());
    if (parser->parse()) return;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return;
  }
  const std::vector<std::string> paths = parser->positional();
  const bool has_empty_name = std::ranges::find(paths, "") != paths.end() ||
                              (parser->has_option("output") && parser->text("output").empty());
  if (!has_empty_name) static_cast<void>(command.read(*parser));
}

[[noreturn]] void refuse_command(const std::vector<std::string>& arguments) {
  check_as_main_command(arguments);
  const std::vector<std::string_view> names = command_names(command_table());
  const std::string name = printable(arguments.front());
  const std::string problem = "unknown command '" + name + "'; ";
  if (const Stage* const stage = stage_meant(arguments.front()))
    usage(problem + stage_hint(*stage) + " after INPUT and OUTPUT");
  if (name == "convert" || name == "mogrify")
    usage(problem + "to convert use imgpipe INPUT OUTPUT --stages none");
  if (name == "identify") usage(problem + "use imgpipe info");
  if (name == "compare" || name == "cmp") usage(problem + "use imgpipe diff");
  usage(unknown_name(
      "unknown command '" + name + "'", arguments.front(), names,
      "must be one of " + joined(names) + "; for a file or directory of that name use ./" + name));
}

// A command and its arguments. Options may precede the command: `imgpipe -v info x.png`.
struct Call {
  const CommandRow* command = nullptr;
  std::vector<std::string> arguments;
};

// Finds a command's name at the start, or after options of that command; nullopt if there is none. After
// options, the name of an existing file or directory is an input.
std::optional<Call> find_call(const std::vector<std::string>& arguments, Commands commands) {
  const auto name = std::ranges::find_if(arguments, [&](const std::string& argument) {
    return !argument.empty() && find_command(commands, argument) != nullptr;
  });
  std::error_code ignored;
  if (name == arguments.end() || (name != arguments.begin() && std::filesystem::exists(*name, ignored)))
    return std::nullopt;
  Call call{find_command(commands, *name), {}};
  const std::vector<OptionRow> rows = call.command->rows();
  try {
    const std::vector<ParsedArgument> before =
        parse_arguments({arguments.begin(), name}, rows, full_name(*call.command));
    const auto is_option = [](const ParsedArgument& one) { return one.row != nullptr && one.has_value; };
    if (!std::ranges::all_of(before, is_option)) return std::nullopt;
    call.arguments = argument_texts(before);
  } catch (const Error&) {
    return std::nullopt;
  }
  call.arguments.insert(call.arguments.end(), name + 1, arguments.end());
  return call;
}

}  // namespace

ReadyCommand read_command_line(const std::vector<std::string>& arguments) {
  const Commands commands = command_table();
  if (const std::optional<Call> call = find_call(arguments, commands))
    return read_command(*call->command, call->arguments, commands);
  if (!arguments.empty() && may_be_command(arguments.front())) refuse_command(arguments);
  return read_command(commands.front(), arguments, commands);
}

int run_command(const std::vector<std::string>& arguments, const EngineFactory& factory) {
  set_up_log(find_logging(arguments));
  return run_guarded([&] {
    const ReadyCommand command = read_command_line(arguments);
    use_simd_from_environment();
    if (command.logging) set_up_log(*command.logging);
    return command.run(factory);
  });
}

}  // namespace imgpipe

// One command line against the rows of a command: cxxopts behind the few calls that commands need. Its header
// takes seconds to compile, so that only option_parser.cpp (and version.cpp) includes it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/options/command_row.h"
#include "app/options/option_row.h"
#include "app/options/option_values.h"
#include "app/options/presets.h"

namespace imgpipe {

class Parser {
 public:
  // Reads the presets that `arguments` name. Throws Error(usage), as GivenOptions does. `command` stays where
  // it is; `commands` may be empty.
  Parser(const CommandRow& command, const std::vector<std::string>& arguments, Commands commands = {});
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Returns the text of --help or --version where one of them is given. Throws Error(usage).
  [[nodiscard]] std::optional<std::string> parse();

  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }
  [[nodiscard]] const GivenOptions& given() const { return given_; }
  [[nodiscard]] Commands commands() const { return commands_; }

  // Whether the command has such an option.
  [[nodiscard]] bool knows(std::string_view name) const;
  // Of an option, or of a positional argument by its name; where an option of that name is given, the
  // option's.
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] bool has_option(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  // Every value of an option that may be repeated.
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
  [[nodiscard]] std::string text_or_empty(const std::string& name) const {
    return has(name) ? text(name) : "";
  }
  // The same, but throws Error(usage) for an empty text.
  [[nodiscard]] std::string name_or_empty(const std::string& name) const;
  [[nodiscard]] int integer(const std::string& name, int least, int most) const {
    return static_cast<int>(parse_integer(name, text(name), least, most));
  }
  // Arguments that are not options, but for names that an option stands in for.
  [[nodiscard]] std::vector<std::string> positional() const;
  // Those that have no name.
  [[nodiscard]] const std::vector<std::string>& more() const { return more_; }

 private:
  struct Library;  // what cxxopts holds
  using Placed = std::pair<std::string, std::string>;
  void place(const std::vector<std::string>& texts);
  void check_positional() const;

  const CommandRow& command_;
  std::vector<std::string> arguments_;
  Commands commands_;
  std::vector<OptionRow> rows_;
  GivenOptions given_;
  std::unique_ptr<Library> library_;
  std::vector<Placed> placed_;     // positional arguments with their names
  std::vector<std::string> more_;  // and those that have none
};

// A .json file, or "-" for stdout; empty: --json is not given.
[[nodiscard]] std::string read_json_file(const Parser& parser);

}  // namespace imgpipe

// Parses one command line against the rows of a command. Wraps cxxopts, whose header takes seconds to
// compile, so only option_parser.cpp and version.cpp include it.
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
  // Reads the presets that `arguments` name. Throws Error(usage) like MergedOptions. `command` must outlive
  // this object; `commands` may be empty.
  Parser(const CommandRow& command, const std::vector<std::string>& arguments, Commands commands = {});
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Parses the arguments. Returns the text of --help or --version if requested. Throws Error(usage).
  [[nodiscard]] std::optional<std::string> parse();

  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }
  [[nodiscard]] const MergedOptions& given() const { return given_; }
  [[nodiscard]] Commands commands() const { return commands_; }

  [[nodiscard]] bool knows(std::string_view name) const;
  // The following functions take the name of an option or positional argument; an option of the same name
  // takes precedence.
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] bool has_option(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  // Returns every value of a repeatable option.
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
  [[nodiscard]] std::string text_or_empty(const std::string& name) const {
    return has(name) ? text(name) : "";
  }
  // Like text_or_empty(), but throws Error(usage) if the option has an empty value.
  [[nodiscard]] std::string name_or_empty(const std::string& name) const;
  [[nodiscard]] int integer(const std::string& name, int least, int most) const {
    return static_cast<int>(parse_integer(name, text(name), least, most));
  }
  // Returns the arguments that are not options.
  [[nodiscard]] std::vector<std::string> positional() const;
  // Returns the positional arguments beyond the command's positional names.
  [[nodiscard]] const std::vector<std::string>& more() const { return more_; }

 private:
  struct Library;  // the state of cxxopts
  using Placed = std::pair<std::string, std::string>;
  [[nodiscard]] const OptionRow* row_of(std::string_view name) const;
  void position(const std::vector<std::string>& texts);
  void check_positional() const;

  const CommandRow& command_;
  std::vector<std::string> arguments_;
  Commands commands_;
  std::vector<OptionRow> rows_;
  MergedOptions given_;
  std::unique_ptr<Library> library_;
  std::vector<Placed> placed_;     // positional arguments with their names
  std::vector<std::string> more_;  // further positional arguments
};

// A .json file, or "-" for stdout; empty: --json is not given.
[[nodiscard]] std::string read_json_file(const Parser& parser);

}  // namespace imgpipe

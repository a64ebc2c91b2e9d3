// One command line against a table of options: cxxopts behind the few calls that the commands need. Its
// header takes seconds to compile, so that only option_parser.cpp (and version.cpp) includes it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/options/execution_options.h"
#include "app/options/help_text.h"
#include "app/options/input_options.h"
#include "app/options/option_table.h"
#include "app/options/options.h"
#include "app/shard/shard.h"
#include "images/names.h"

namespace imgpipe {

// Throws Error(usage).
[[noreturn]] void usage(const std::string& message);

// All three throw Error(usage) that names the option and what it takes.
[[nodiscard]] std::int64_t parse_integer(const std::string& option, std::string_view text, std::int64_t least,
                                         std::int64_t most);
// By its ending a file says what it is to hold.
[[nodiscard]] std::string file_with_ending(const std::string& option, const std::string& path,
                                           std::initializer_list<std::string_view> endings);
[[noreturn]] void usage_of_choice(const std::string& option, const std::string& text,
                                  std::span<const std::string_view> names);
template <class Value, std::size_t N>
[[nodiscard]] Value parse_choice(const std::string& option, const std::string& text,
                                 const std::array<std::pair<std::string_view, Value>, N>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (usual_spelling(text) == name) return value;
    names.push_back(name);
  }
  usage_of_choice(option, text, names);
}

struct CommandRow;

class Parser {
 public:
  explicit Parser(const CommandRow& command);
  // `positional`: what stands without an option.
  Parser(const std::string& program, const std::string& description, const std::vector<OptionRow>& rows,
         std::vector<std::string> positional);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void set_usage(std::vector<UsageRow> usage) { usage_ = std::move(usage); }
  void set_help_table(HelpTable table) { table_ = std::move(table); }

  // False when the text of --help or --version is the answer; it is then in `answer`.
  bool parse(const std::vector<std::string>& arguments, PrintText& answer);

  // Further arguments behind the positional ones are no error.
  void allow_more() { more_allowed_ = true; }
  // Fewer positional ones are no error.
  void allow_fewer() { fewer_allowed_ = true; }
  // Fewer positional ones are no error when this option is given.
  void need_fewer_with(const std::string& option) { optional_with_ = option; }
  [[nodiscard]] const std::vector<std::string>& more() const;

  void demand_all() const;

  // Whether the command has such an option.
  [[nodiscard]] bool knows(std::string_view name) const;
  // Of an option, and of what stands without one, by its name among the positional ones; where an option of
  // that name is given, the option's.
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] bool has_option(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  // Every value of an option that may be repeated.
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
  [[nodiscard]] std::string text_or_empty(const std::string& name) const {
    return has(name) ? text(name) : "";
  }
  [[nodiscard]] std::int64_t integer(const std::string& name, std::int64_t least, std::int64_t most) const {
    return parse_integer(name, text(name), least, most);
  }

 private:
  struct Library;  // what cxxopts holds
  using Placed = std::pair<std::string, std::string>;
  void place(const std::vector<std::string>& texts);

  std::unique_ptr<Library> library_;
  std::string program_;
  std::vector<std::string> positional_;
  std::vector<Placed> placed_;     // what stands without an option, with its name
  std::vector<std::string> more_;  // and what has none
  std::string description_;
  std::vector<OptionRow> rows_;
  std::vector<UsageRow> usage_;
  HelpTable table_;
  bool more_allowed_ = false;
  bool fewer_allowed_ = false;
  std::string optional_with_;
};

// What of a batch and of its input the command has options for; of the others it is as if none were given.
[[nodiscard]] InputOptions inputs_of(const Parser& parser);
[[nodiscard]] ExecutionOptions execution_of(const Parser& parser);
[[nodiscard]] std::optional<Shard> shard_of(const Parser& parser);
[[nodiscard]] DecodeOptions decode_of(const Parser& parser);
// --json: a .json file, or "-" for stdout; empty: not given.
[[nodiscard]] std::string json_file_of(const Parser& parser);
// What stands without an option, for a command that takes files and folders and has no OUTPUT. `what`: their
// name in its help.
[[nodiscard]] std::vector<std::string> given_inputs(const Parser& parser, const std::string& what);
void set_inputs(std::vector<std::string> paths, InputOptions& input);
[[nodiscard]] LoggingOptions logging_of(const Parser& parser);
[[nodiscard]] Replace replace_of(const Parser& parser);

}  // namespace imgpipe

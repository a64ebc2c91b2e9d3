#include "app/options/option_parser.h"

#include <algorithm>
#include <stdexcept>

#include "app/options/help_text.h"
#include "app/version.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"

namespace imgpipe {

Parser::Parser(const CommandRow& command, const std::vector<std::string>& arguments, Commands commands)
    : command_(command),
      arguments_(arguments),
      commands_(commands),
      rows_(command.rows()),
      given_(arguments, rows_, full_name(command)) {}

const OptionRow* Parser::row_of(std::string_view name) const {
  const auto row = std::ranges::find_if(rows_, [&](const OptionRow& one) { return is_named(one, name); });
  return row == rows_.end() ? nullptr : &*row;
}

bool Parser::knows(std::string_view name) const {
  return row_of(name) != nullptr;
}

const ParsedArgument* Parser::last_given(std::string_view name) const {
  const std::vector<ParsedArgument>& all = given_.all();
  const auto last = std::find_if(all.rbegin(), all.rend(), [&](const ParsedArgument& argument) {
    return argument.row != nullptr && is_named(*argument.row, name);
  });
  return last == all.rend() ? nullptr : &*last;
}

bool Parser::has_option(const std::string& name) const {
  const ParsedArgument* const given = last_given(name);
  return given != nullptr && (given->row->value != nullptr || given->text == "true");  // --recursive=false
}

bool Parser::has(const std::string& name) const {
  return has_option(name) || std::ranges::find(placed_, name, &Placed::first) != placed_.end();
}

std::string Parser::text(const std::string& name) const {
  const auto placed = std::ranges::find(placed_, name, &Placed::first);
  if (placed != placed_.end()) return placed->second;
  if (const ParsedArgument* const given = last_given(name)) return given->text;
  const OptionRow* const row = row_of(name);
  if (row == nullptr || row->preset == nullptr) throw std::logic_error("no value of --" + name);
  return row->preset;
}

std::string Parser::name_or_empty(const std::string& name) const {
  if (has(name) && text(name).empty()) usage("--" + name + ": empty name");
  return text_or_empty(name);
}

// Assigns arguments to the positional names that no option replaces, in order; the rest goes to more_.
void Parser::position() {
  auto name = command_.positional.begin();
  bool options_end = false;
  for (const ParsedArgument& argument : given_.all()) {
    if (argument.row != nullptr) continue;
    if (!options_end && argument.text == "--") {
      options_end = true;
      continue;
    }
    while (name != command_.positional.end() && has_option(*name)) ++name;
    if (name == command_.positional.end()) {
      more_.push_back(argument.text);
    } else {
      placed_.emplace_back(*name++, argument.text);
    }
  }
}

std::optional<std::string> Parser::parse() {
  check_values(given_.all());
  position();
  if (has("version")) return version_text();
  if (has("help")) {
    const bool in_full = std::ranges::find(arguments_, "--help") != arguments_.end();
    if (command_.brief_help != nullptr && !in_full) return command_.brief_help(command_, help_width());
    const HelpTable table = command_.help_table == nullptr ? HelpTable() : command_.help_table();
    return help_text(command_.description, command_.usage, rows_, help_width(), table);
  }
  check_positional();
  return std::nullopt;
}

void Parser::check_positional() const {
  if (!more_.empty() && !command_.accepts_more_arguments)
    usage("unexpected argument '" + printable(more_.front()) + "'");
  const bool is_replaced =
      std::ranges::any_of(command_.or_options, [&](const char* option) { return has(option); });
  if (!command_.requires_arguments || is_replaced || given_.only_writes_preset()) return;
  for (const std::string& name : command_.positional) {
    std::string upper = name;
    std::ranges::transform(upper, upper.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    if (!has(name)) usage("missing " + upper + "; see " + full_name(command_) + " --help");
  }
}

std::vector<std::string> Parser::texts(const std::string& name) const {
  std::vector<std::string> values;
  for (const ParsedArgument& argument : given_.all()) {
    if (argument.row != nullptr && is_named(*argument.row, name)) values.push_back(argument.text);
  }
  return values;
}

std::vector<std::string> Parser::positional() const {
  std::vector<std::string> texts;
  for (const Placed& placed : placed_) texts.push_back(placed.second);
  texts.insert(texts.end(), more_.begin(), more_.end());
  return texts;
}

std::string read_json_file(const Parser& parser) {
  return parser.has("json") ? result_file("json", parser.text("json"), {".json"}) : "";
}

}  // namespace imgpipe

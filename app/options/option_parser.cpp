#include "app/options/option_parser.h"

#include <algorithm>

#include <cxxopts.hpp>

#include "app/options/help_text.h"
#include "app/version.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"

namespace imgpipe {

struct Parser::Library {
  explicit Library(const std::string& program) : options(program) {}
  cxxopts::Options options;
  cxxopts::ParseResult result;
};

Parser::Parser(const CommandRow& command, const std::vector<std::string>& arguments, Commands commands)
    : command_(command),
      arguments_(arguments),
      commands_(commands),
      rows_(command.rows()),
      given_(arguments, rows_, full_name(command)),
      library_(std::make_unique<Library>(full_name(command))) {
  for (const OptionRow& row : rows_) {  // all would take a tenth of the start
    if (std::ranges::find(given_.all(), &row, &ParsedArgument::row) == given_.all().end()) continue;
    const auto value = row.value == nullptr ? cxxopts::value<bool>() : cxxopts::value<std::string>();
    library_->options.add_option("", cxxopts::Option(option_name(row), "", value));
  }
}

Parser::~Parser() = default;

const OptionRow* Parser::row_of(std::string_view name) const {
  const auto row = std::ranges::find_if(rows_, [&](const OptionRow& one) { return is_named(one, name); });
  return row == rows_.end() ? nullptr : &*row;
}

bool Parser::knows(std::string_view name) const {
  return row_of(name) != nullptr;
}

bool Parser::has_option(const std::string& name) const {
  if (library_->result.count(name) == 0) return false;
  const bool is_switch = row_of(name)->value == nullptr;
  return !is_switch || library_->result[name].as<bool>();  // --recursive=false
}

bool Parser::has(const std::string& name) const {
  return has_option(name) || std::ranges::find(placed_, name, &Placed::first) != placed_.end();
}

std::string Parser::text(const std::string& name) const {
  const auto placed = std::ranges::find(placed_, name, &Placed::first);
  if (placed != placed_.end()) return placed->second;
  const OptionRow* const row = row_of(name);
  const bool is_preset = library_->result.count(name) == 0 && row != nullptr && row->preset != nullptr;
  return is_preset ? row->preset : library_->result[name].as<std::string>();
}

std::string Parser::name_or_empty(const std::string& name) const {
  if (has(name) && text(name).empty()) usage("--" + name + ": empty name");
  return text_or_empty(name);
}

// Assigns texts to the positional names that no option replaces, in order; the rest goes to more_.
void Parser::position(const std::vector<std::string>& texts) {
  auto text = texts.begin();
  for (const std::string& name : command_.positional) {
    if (text != texts.end() && !has_option(name)) placed_.emplace_back(name, *text++);
  }
  more_.assign(text, texts.end());
}

std::optional<std::string> Parser::parse() {
  check_values(given_.all());
  const std::vector<std::string> named = argument_texts(given_.all());
  std::vector<const char*> argv{"imgpipe"};
  for (const std::string& argument : named) argv.push_back(argument.c_str());
  try {
    library_->result = library_->options.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const cxxopts::exceptions::exception& error) {
    usage(printable(error.what()) + "; see " + full_name(command_) + " --help");
  }
  position(library_->result.unmatched());
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
  for (const cxxopts::KeyValue& argument : library_->result.arguments()) {
    if (argument.key() == name) values.push_back(argument.value());
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

#include "app/options/option_parser.h"

#include <algorithm>
#include <charconv>

#include <cxxopts.hpp>

#include "app/options/command_table.h"
#include "app/options/given_names.h"
#include "app/options/option_values.h"
#include "app/version.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

// Options whose value may be - for stdout.
constexpr std::string_view kToStdout[] = {"json", "report", "write-preset"};

}  // namespace

void usage(const std::string& message) {
  throw Error(ErrorKind::usage, message);
}

void usage_of_choice(const std::string& option, const std::string& text,
                     std::span<const std::string_view> names) {
  usage("--" + option + ": " + none_of(text, names));
}

std::int64_t parse_integer(const std::string& option, std::string_view text, std::int64_t least,
                           std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    usage("--" + option + ": '" + printable(text) + "' is not a whole number from " + std::to_string(least) +
          " to " + std::to_string(most));
  }
  return value;
}

std::string file_with_ending(const std::string& option, const std::string& path,
                             std::initializer_list<std::string_view> endings) {
  std::string names;
  for (const std::string_view& ending : endings) {
    if (path.size() > ending.size() && path.ends_with(ending)) return path;
    const bool is_last = &ending == endings.end() - 1;
    names += (names.empty() ? "" : is_last ? " or " : ", ") + std::string(ending);
  }
  usage("--" + option + ": '" + printable(path) + "' must end in " + names);
}

struct Parser::Library {
  Library(const std::string& program, const std::string& description) : options(program, description) {}
  cxxopts::Options options;
  cxxopts::ParseResult result;
};

Parser::Parser(const std::string& program, const std::string& description, const std::vector<OptionRow>& rows,
               std::vector<std::string> positional)
    : library_(std::make_unique<Library>(program, description)),
      program_(program),
      positional_(std::move(positional)),
      description_(description),
      rows_(rows) {
  for (const OptionRow& row : rows) {
    auto value = row.value == nullptr ? cxxopts::value<bool>() : cxxopts::value<std::string>();
    if (row.preset != nullptr) value->default_value(row.preset);
    library_->options.add_option(
        row.group, cxxopts::Option(option_name(row), row.help, value, row.value == nullptr ? "" : row.value));
  }
}

Parser::Parser(const CommandRow& command)
    : Parser(full_name(command), command.description, command.rows(), command.positional) {
  usage_ = command.usage;
}

Parser::~Parser() = default;

const std::vector<std::string>& Parser::more() const {
  return more_;
}

bool Parser::knows(std::string_view name) const {
  return std::ranges::find(rows_, name, option_name) != rows_.end();
}

bool Parser::has_option(const std::string& name) const {
  if (library_->result.count(name) == 0) return false;
  const auto row = std::ranges::find(rows_, name, option_name);
  const bool is_switch = row != rows_.end() && row->value == nullptr;
  return !is_switch || library_->result[name].as<bool>();  // --recursive=false
}

bool Parser::has(const std::string& name) const {
  return has_option(name) || std::ranges::find(placed_, name, &Placed::first) != placed_.end();
}

std::string Parser::text(const std::string& name) const {
  const auto placed = std::ranges::find(placed_, name, &Placed::first);
  return placed == placed_.end() ? library_->result[name].as<std::string>() : placed->second;
}

// The positional names that no option has taken the place of, in their order; the rest is more.
void Parser::place(const std::vector<std::string>& texts) {
  auto text = texts.begin();
  for (const std::string& name : positional_) {
    if (text != texts.end() && !has_option(name)) placed_.emplace_back(name, *text++);
  }
  more_.assign(text, texts.end());
}

bool Parser::parse(const std::vector<std::string>& arguments, PrintText& answer) {
  const std::vector<GivenArgument> given = given_arguments(arguments, rows_, program_);
  for (const GivenArgument& argument : given) {
    if (argument.row == nullptr || argument.row->value == nullptr || argument.has_value) continue;
    const std::string name = option_name(*argument.row);
    const bool takes_stdout = std::ranges::find(kToStdout, name) != std::end(kToStdout);
    usage("--" + name + " needs a value: " + argument.row->value + (takes_stdout ? ", or - for stdout" : ""));
  }
  const std::vector<std::string> named = argument_texts(given);
  std::vector<const char*> argv{"imgpipe"};
  for (const std::string& argument : named) argv.push_back(argument.c_str());
  try {
    library_->result = library_->options.parse(static_cast<int>(argv.size()), argv.data());
  } catch (const cxxopts::exceptions::exception& error) {
    usage(printable(error.what()) + "; see " + program_ + " --help");
  }
  place(library_->result.unmatched());
  if (has("help")) answer.text = help_text(description_, usage_, rows_, help_width(), table_);
  if (has("version")) answer.text = version_text();
  if (!answer.text.empty()) return false;
  if (!more_.empty() && !more_allowed_) usage("one argument too many: '" + printable(more_.front()) + "'");
  if (fewer_allowed_) return true;
  if (optional_with_.empty() || !has(optional_with_)) demand_all();
  return true;
}

void Parser::demand_all() const {
  for (const std::string& name : positional_) {
    std::string upper = name;
    std::ranges::transform(upper, upper.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    if (!has(name)) usage(upper + " is missing; see " + program_ + " --help");
  }
}

std::vector<std::string> Parser::texts(const std::string& name) const {
  std::vector<std::string> values;
  for (const cxxopts::KeyValue& argument : library_->result.arguments()) {
    if (argument.key() == name) values.push_back(argument.value());
  }
  return values;
}

Replace replace_of(const Parser& parser) {
  if (parser.has("overwrite") && parser.has("no-clobber"))
    usage("--overwrite and --no-clobber exclude each other");
  if (parser.has("overwrite")) return Replace::all;
  return parser.has("no-clobber") ? Replace::none : Replace::own;
}

LoggingOptions logging_of(const Parser& parser) {
  LoggingOptions logging{parser.has("quiet"), parser.has("verbose"), parser.has("no-color"),
                         parse_choice("log-format", parser.text("log-format"), kLogFormats)};
  if (logging.quiet && logging.verbose) usage("-q and -v contradict each other");
  return logging;
}

}  // namespace imgpipe

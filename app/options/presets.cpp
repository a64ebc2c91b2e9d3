#include "app/options/presets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/options/preset_file.h"

namespace imgpipe {
namespace {

std::string name_of(const ParsedArgument& argument) {
  return argument.row == nullptr ? "" : option_name(*argument.row);
}

bool exclude_each_other(const std::string& a, const std::string& b) {
  return std::ranges::any_of(excluding_options(), [&](const ExclusiveOptions& pair) {
    return (a == pair.one && b == pair.other) || (a == pair.other && b == pair.one);
  });
}

bool overrides_option(const PresetOption& later, const PresetOption& earlier) {
  const std::string name = option_name(*later.row), other = option_name(*earlier.row);
  return name == other ||
         (later.values != std::vector<std::string>{"false"} && exclude_each_other(name, other));
}

}  // namespace

MergedOptions::MergedOptions(const std::vector<std::string>& arguments, const std::vector<OptionRow>& rows,
                             const std::string& command)
    : rows_(rows), all_(parse_arguments(arguments, rows, command)) {
  if (!is_given("help") && !is_given("version")) take_presets(rows);
}

bool MergedOptions::is_given(const std::string& name) const {
  return std::ranges::find(all_, name, name_of) != all_.end();
}

bool MergedOptions::is_overridden(const std::string& name) const {
  return std::ranges::any_of(all_, [&](const ParsedArgument& argument) {
    const std::string given = name_of(argument);
    return given == name || (argument.text != "false" && exclude_each_other(given, name));
  });
}

void MergedOptions::take_presets(const std::vector<OptionRow>& rows) {
  std::vector<PresetOption> options;  // each option once
  for (const ParsedArgument& argument : all_) {
    if (name_of(argument) != "preset" || !argument.has_value) continue;
    const std::vector<PresetOption> later = read_preset(argument.text, rows);
    std::erase_if(options, [&](const PresetOption& earlier) {
      return std::ranges::any_of(
          later, [&](const PresetOption& option) { return overrides_option(option, earlier); });
    });
    options.insert(options.end(), later.begin(), later.end());
  }
  std::vector<ParsedArgument> of_presets;
  for (const PresetOption& option : options) {
    const std::string name = option_name(*option.row);
    if (is_overridden(name)) continue;
    positions_[name] = option.position;
    for (const std::string& value : option.values) of_presets.push_back({option.row, value});
  }
  all_.insert(all_.begin(), of_presets.begin(), of_presets.end());
}

bool MergedOptions::only_writes_preset() const {
  return is_given("write-preset") && !is_given("output") && !is_given("files-from") &&
         std::ranges::none_of(all_, [](const ParsedArgument& argument) { return argument.row == nullptr; });
}

std::string MergedOptions::with_position(const std::string& message) const {
  if (!message.starts_with("--")) return message;
  const std::string name = message.substr(2, message.find_first_of(": ", 2) - 2);
  const auto position = positions_.find(name);
  return position == positions_.end() ? message : position->second + ": " + message;
}

std::string MergedOptions::as_preset(const std::string& path) const {
  std::vector<PresetOption> options;
  for (const OptionRow& row : rows_) {
    if (!allowed_in_presets(row)) continue;
    PresetOption option{&row, {}, ""};
    for (const ParsedArgument& argument : all_) {
      if (name_of(argument) == option_name(row)) option.values.push_back(argument.text);
    }
    if (!option.values.empty()) options.push_back(std::move(option));
  }
  return preset_text(options, path);
}

std::vector<std::string> MergedOptions::left_out() const {
  std::vector<std::string> names;
  for (const OptionRow& row : rows_) {
    const std::string name = option_name(row);
    if (!allowed_in_presets(row) && name != "preset" && name != "write-preset" && name != "output" &&
        is_given(name))
      names.push_back("--" + name);
  }
  return names;
}

}  // namespace imgpipe

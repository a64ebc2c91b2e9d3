#include "app/options/preset_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <toml++/toml.h>

#include "app/files/replaceable.h"
#include "app/options/option_values.h"
#include "app/options/parsed_arguments.h"
#include "app/options/range_file.h"
#include "app/version.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/names.h"
#include "images/text.h"
#include "pipeline/stage_list.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxPresetBytes = std::int64_t{1} << 20;
constexpr const char* kImage = "image";
constexpr const char* kAlso = "also";

std::string number_text(double value) {
  std::array<char, 512> text{};  // 1e308 has 309 digits
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return error == std::errc{} ? std::string(text.data(), end) : "";
}

bool is_stage_list(const std::string& name) {
  return name == "stages" || name == "then";
}

// Returns nullopt for a node that is neither a string nor a number.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return number_text(number->get());
  return std::nullopt;
}

std::string type_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::boolean:
      return *node.value<bool>() ? "true" : "false";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
    case toml::node_type::floating_point:
      return "a number";
    default:
      return "a date or time";
  }
}

// Returns NAME=VALUE with another VALUE; other texts unchanged.
template <class Renamed>
std::string with_value(const std::string& text, const Renamed& renamed) {
  const std::size_t equals = text.find('=');
  return equals == std::string::npos ? text : text.substr(0, equals + 1) + renamed(text.substr(equals + 1));
}

class PresetReader {
 public:
  PresetReader(const std::string& path, const std::vector<OptionRow>& rows)
      : path_(path),
        rows_(rows),
        directory_(path == kStandardStream ? fs::path() : fs::path(path).parent_path()) {}

  std::vector<PresetOption> read() {
    const toml::table table = parse();
    // In the order of the file, so that the first mistake is reported.
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
    std::ranges::sort(entries, {}, [](const auto& entry) {
      const toml::source_position& at = entry.first->source().begin;
      return std::pair(at.line, at.column);
    });
    for (const auto& [key, node] : entries) add(*key, *node);
    return std::move(options_);
  }

 private:
  toml::table parse() const {
    const std::vector<std::byte> bytes =
        naming("--preset " + printable(path_), [&] { return read_file(path_, kMaxPresetBytes); });
    try {
      return toml::parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    } catch (const toml::parse_error& error) {
      refuse(error.source().begin, printable(error.description()));
    }
  }

  void add(const toml::key& key, const toml::node& node) {
    const std::string name(key.str());
    const toml::source_position& at = key.source().begin;
    const OptionRow* row = find_option(name, rows_);
    if (row == nullptr) refuse_name(at, name);
    if (!allowed_in_presets(*row))
      refuse(at, option_name(*row) + ": not allowed in presets; give it on the command line");
    if (std::ranges::find(options_, row, &PresetOption::row) != options_.end())
      refuse(at, option_name(*row) + ": given twice");
    options_.push_back({row, values_of(*row, node), position(at)});
  }

  std::vector<std::string> values_of(const OptionRow& row, const toml::node& node) const {
    const toml::source_position& at = node.source().begin;
    const std::string name = option_name(row);
    if (row.value == nullptr) {
      if (!node.is_boolean()) refuse(at, name + ": expected true or false, got " + type_of(node));
      return {*node.value<bool>() ? "true" : "false"};
    }
    const bool is_list = is_stage_list(name) || is_repeated(row);
    std::vector<std::string> values;
    if (const auto* list = node.as_array(); list != nullptr && is_list) {
      for (const toml::node& one : *list) values.push_back(value_of(name, one));
    } else {
      values.push_back(value_of(name, node));
    }
    if (name == kImage) {
      for (std::string& value : values)
        value = with_value(value, [&](const std::string& file) { return (directory_ / file).string(); });
    }
    if (name == kAlso) {
      for (std::string& value : values)
        value = with_value(value, [&](const std::string& list) { return stages_of({list}, at); });
    }
    return is_stage_list(name) ? std::vector{stages_of(values, at)} : values;
  }

  std::string value_of(const std::string& name, const toml::node& node) const {
    std::optional<std::string> text = text_of(node);
    if (!text) refuse(node.source().begin, name + ": expected a string or a number, got " + type_of(node));
    if (text->find('\0') != std::string::npos) refuse(node.source().begin, name + ": contains a NUL byte");
    return *std::move(text);
  }

  std::string stages_of(const std::vector<std::string>& steps, const toml::source_position& at) const {
    std::string list;
    for (const std::string& step : steps) list += (&step == steps.data() ? "" : ",") + step;
    return rename_step_files(list, [&](const std::string& file) {
      std::string found = (directory_ / file).string();
      if (found.find_first_of(",:") != std::string::npos)
        refuse(at, printable(file) + ": resolves to " + printable(found) +
                       ", but a step cannot contain a comma or colon");
      return found;
    });
  }

  [[nodiscard]] std::string position(const toml::source_position& at) const {
    return printable(path_ == kStandardStream ? "stdin" : path_) + ":" + std::to_string(at.line);
  }
  [[noreturn]] void refuse(const toml::source_position& at, const std::string& problem) const {
    usage(position(at) + ": " + problem);
  }
  [[noreturn]] void refuse_name(const toml::source_position& at, const std::string& name) const {
    std::vector<std::string> known;
    for (const OptionRow& row : rows_) {
      if (allowed_in_presets(row)) known.push_back(option_name(row));
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    refuse(at, "unknown option '" + printable(name) + "'" + did_you_mean(name, names));
  }

  const std::string& path_;
  const std::vector<OptionRow>& rows_;
  fs::path directory_;
  std::vector<PresetOption> options_;
};

// ---- writing ---------------------------------------------------------------------------------------------

std::string toml_text(const toml::node& node) {
  std::ostringstream stream;
  stream << toml::toml_formatter{node, toml::format_flags::allow_unicode_strings};
  return stream.str();
}

void check_utf8(const std::string& name, const std::string& text) {
  std::size_t length = 0;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(length)) {
    std::uint32_t code_point = 0;
    length = utf8_length(rest, code_point);
    if (length == 0)
      usage("--write-preset: --" + name + ": '" + printable(text) + "' is not UTF-8, which TOML requires");
  }
}

// Writes a number if it reads back as the same text, otherwise a string.
std::string value_literal(const std::string& name, const std::string& text) {
  check_utf8(name, text);
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  double number = 0;
  const bool is_whole = std::from_chars(text.data(), end, whole).ptr == end && std::to_string(whole) == text;
  const bool is_number = std::from_chars(text.data(), end, number, std::chars_format::fixed).ptr == end &&
                         text.find('.') != std::string::npos && number_text(number) == text;
  if (!text.empty() && (is_whole || is_number)) return text;
  return toml_text(toml::value<std::string>(text));
}

std::string list_literal(const std::string& name, const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) {
    check_utf8(name, value);
    if (!list.empty()) list += ", ";
    list += toml_text(toml::value<std::string>(value));
  }
  return "[" + list + "]";
}

// Returns the path of a file for a preset: relative to the preset's directory if the file is below it,
// otherwise absolute.
fs::path path_from(const std::string& file, const std::string& preset) {
  const fs::path whole = fs::weakly_canonical(fs::absolute(file));
  const fs::path of_preset = fs::absolute(preset).parent_path();
  const fs::path below =
      preset == kStandardStream ? fs::path() : whole.lexically_relative(fs::weakly_canonical(of_preset));
  return below.empty() || *below.begin() == ".." ? whole : below;
}

// The same for a file that a step names.
std::string step_file_from(const std::string& file, const std::string& preset) {
  std::string text = path_from(file, preset).string();
  if (text.find('.') == std::string::npos && text.find('/') == std::string::npos) text = "./" + text;
  if (text.find_first_of(",:") != std::string::npos)
    usage("--write-preset: " + printable(file) + ": resolves to " + printable(text) +
          ", but a step cannot contain a comma or colon");
  return text;
}

}  // namespace

std::vector<PresetOption> read_preset(const std::string& path, const std::vector<OptionRow>& rows) {
  return PresetReader(path, rows).read();
}

std::string preset_text(const std::vector<PresetOption>& options, const std::string& path) {
  std::string text = std::string(kPresetMark) + ", by imgpipe " + build_info().version +
                     ": imgpipe INPUT OUTPUT --preset FILE\n";
  for (const PresetOption& option : options) {
    const std::string name = option_name(*option.row);
    std::string literal;
    if (option.row->value == nullptr) {
      literal = option.values.back();
    } else if (is_stage_list(name)) {
      const auto named = [&](const std::string& file) { return step_file_from(file, path); };
      const std::string list = rename_step_files(option.values.back(), named);
      const std::vector<std::string_view> steps = steps_in(list);
      literal = list_literal(name, {steps.begin(), steps.end()});
    } else if (name == kImage) {
      std::vector<std::string> values = option.values;
      for (std::string& value : values)
        value = with_value(value, [&](const std::string& file) { return path_from(file, path).string(); });
      literal = list_literal(name, values);
    } else if (name == kAlso) {
      std::vector<std::string> values = option.values;
      const auto named = [&](const std::string& file) { return step_file_from(file, path); };
      for (std::string& value : values)
        value = with_value(value, [&](const std::string& list) { return rename_step_files(list, named); });
      literal = list_literal(name, values);
    } else if (is_repeated(*option.row)) {
      literal = list_literal(name, option.values);
    } else {
      literal = value_literal(name, option.values.back());
    }
    text.append(name).append(" = ").append(literal).append("\n");
  }
  return text;
}

}  // namespace imgpipe

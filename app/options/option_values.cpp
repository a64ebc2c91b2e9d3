#include "app/options/option_values.h"

#include <charconv>

#include "images/error.h"
#include "images/synth.h"
#include "images/text.h"

namespace imgpipe {

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
    usage("--" + option + ": expected an integer from " + std::to_string(least) + " to " +
          std::to_string(most) + ", got '" + printable(text) + "'");
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
  usage("--" + option + (path.empty() ? "" : " " + printable(path)) + ": must end in " + names);
}

std::string result_file(const std::string& option, const std::string& path,
                        std::initializer_list<std::string_view> endings) {
  return path == kStandardStream ? path : file_with_ending(option, path, endings);
}

std::string pattern_help() {
  std::string patterns = "Pattern:";
  for (const PatternInfo& info : pattern_table()) {
    patterns += " " + std::string(info.name) +
                (info.argument.empty() ? "" : ":" + std::string(info.argument)) + " (" +
                std::string(info.summary) + "),";
  }
  patterns.back() = '.';
  return patterns;
}

std::vector<std::string> pattern_values() {
  std::vector<std::string> values;
  for (const PatternInfo& info : pattern_table())
    values.push_back(std::string(info.name) + (info.argument.empty() ? "" : ":"));
  return values;
}

std::vector<std::string> device_values() {
  return {"auto", "cuda", "cuda:", "cpu", "reference"};
}

}  // namespace imgpipe

// Values of options: numbers, files, and choices, which map words to values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "images/names.h"

namespace imgpipe {

template <class Value, std::size_t N>
using Choices = std::array<std::pair<std::string_view, Value>, N>;

// Throws Error(usage).
[[noreturn]] void usage(const std::string& message);

// The following functions throw Error(usage) that names the option and its allowed values.
[[nodiscard]] std::int64_t parse_integer(const std::string& option, std::string_view text, std::int64_t least,
                                         std::int64_t most);
// Checks that a file has one of the endings, which determine its format.
[[nodiscard]] std::string file_with_ending(const std::string& option, const std::string& path,
                                           std::initializer_list<std::string_view> endings);
// Like file_with_ending(), but also accepts "-" for stdout.
[[nodiscard]] std::string result_file(const std::string& option, const std::string& path,
                                      std::initializer_list<std::string_view> endings);
[[noreturn]] void usage_of_choice(const std::string& option, const std::string& text,
                                  std::span<const std::string_view> names);
template <class Value, std::size_t N>
[[nodiscard]] Value parse_choice(const std::string& option, const std::string& text,
                                 const Choices<Value, N>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (canonical_spelling(text) == name) return value;
    names.push_back(name);
  }
  usage_of_choice(option, text, names);
}

// The values of --device, or their beginnings.
[[nodiscard]] std::vector<std::string> device_values();
// The values of --pattern, or their beginnings, and its help text.
[[nodiscard]] std::vector<std::string> pattern_values();
[[nodiscard]] std::string pattern_help();

template <class Value, std::size_t N>
[[nodiscard]] std::string_view choice_name(Value value, const Choices<Value, N>& choices) {
  return std::ranges::find(choices, value, &std::pair<std::string_view, Value>::second)->first;
}
template <class Names>
[[nodiscard]] std::vector<std::string> strings(const Names& names) {
  return {names.begin(), names.end()};
}
template <class Value, std::size_t N>
[[nodiscard]] std::vector<std::string> choice_names(const Choices<Value, N>& choices) {
  std::vector<std::string> names;
  names.reserve(N);
  for (const auto& choice : choices) names.emplace_back(choice.first);
  return names;
}

}  // namespace imgpipe

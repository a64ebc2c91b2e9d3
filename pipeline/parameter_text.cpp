#include "pipeline/parameter_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "images/error.h"
#include "images/names.h"
#include "images/text.h"
#include "images/unreachable.h"
#include "kernels/parameters.h"
#include "kernels/second_image.h"
#include "kernels/stage.h"
#include "pipeline/color_text.h"

namespace imgpipe {
namespace {

constexpr std::size_t kDecimals = 6;

// Parses a number; std::nullopt for any other text.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Returns the value of digits; std::nullopt for anything else, and above 2^40.
std::optional<std::int64_t> digits(std::string_view text) {
  if (text.starts_with('-')) return std::nullopt;
  const auto value = number_of<std::int64_t>(text);
  return value && *value <= std::int64_t{1} << 40 ? value : std::nullopt;
}

// Parses "12" or "-3".
std::optional<std::int64_t> integer(std::string_view text) {
  if (!text.starts_with('-')) return digits(text);
  const auto value = digits(text.substr(1));
  return value && *value > 0 ? std::optional(-*value) : std::nullopt;
}

// Parses "12" or "0.5" exactly, in millionths.
std::optional<std::int64_t> decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) {
    const auto whole = digits(text);
    return whole ? std::optional(*whole * kDecimalOne) : std::nullopt;
  }
  std::string fraction(text.substr(point + 1));
  if (fraction.size() > kDecimals || fraction.empty()) return std::nullopt;
  fraction.resize(kDecimals, '0');
  const auto whole = digits(text.substr(0, point));
  const auto part = digits(fraction);
  if (!whole || !part) return std::nullopt;
  return *whole * kDecimalOne + *part;
}

// Parses "0.5", "+3" or "-1e-5" to the bits of the nearest double.
std::optional<std::int64_t> real(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto value = number_of<double>(text);
  return value && std::isfinite(*value) ? std::optional(std::bit_cast<std::int64_t>(*value)) : std::nullopt;
}

std::optional<std::int64_t> in_range(const Parameter& parameter, std::optional<std::int64_t> value) {
  return value && *value >= parameter.least && *value <= parameter.most ? value : std::nullopt;
}

std::optional<std::int64_t> word_value(const Parameter& parameter, std::string_view text) {
  const auto word = std::ranges::find(parameter.words, canonical_spelling(text));
  if (word == parameter.words.end()) return std::nullopt;
  const auto position = static_cast<std::int64_t>(word - parameter.words.begin());
  return parameter.kind == Parameter::Kind::choice ? position : -1 - position;
}

std::optional<std::int64_t> value_of(const Parameter& parameter, std::string_view text) {
  if (const auto word = word_value(parameter, text)) return word;
  switch (parameter.kind) {
    case Parameter::Kind::integer:
      return in_range(parameter, integer(text));
    case Parameter::Kind::image:
      return std::nullopt;
    case Parameter::Kind::decimal:
    case Parameter::Kind::operand:
      return in_range(parameter, decimal(text));
    case Parameter::Kind::choice:
      return std::nullopt;
    case Parameter::Kind::color:
      return parse_color(text);
    case Parameter::Kind::real:
      return real(text);
  }
  unreachable();
}

std::string decimal_text(std::int64_t millionths) {
  std::string text = std::to_string(millionths / kDecimalOne);
  std::string fraction = std::to_string(kDecimalOne + millionths % kDecimalOne).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? text : text + "." + fraction;
}

// Returns the shortest text that reads back as the same double.
std::string real_text(std::int64_t bits) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.end(), std::bit_cast<double>(bits)).ptr};
}

std::string with_range(const Parameter& parameter) {
  return value_text(parameter, parameter.least) + " to " + value_text(parameter, parameter.most);
}

std::string allowed_without_words(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::integer:
      return with_range(parameter);
    case Parameter::Kind::decimal:
      return with_range(parameter) + " with at most 6 decimals";
    case Parameter::Kind::choice:
      return "";
    case Parameter::Kind::color:
      return "a CSS colour name, #RRGGBB or #RRGGBBAA";
    case Parameter::Kind::real:
      return "a number";
    case Parameter::Kind::image:
      return "an image";
    case Parameter::Kind::operand:
      return with_range(parameter) + " with at most 6 decimals, or an image";
  }
  unreachable();
}

// Returns "; did you mean NAME?" for the nearest word or colour.
std::string suggestion(const Parameter& parameter, std::string_view text) {
  const std::string word = did_you_mean(text, parameter.words);
  return word.empty() && parameter.kind == Parameter::Kind::color ? did_you_mean(text, color_names()) : word;
}

}  // namespace

std::int64_t parse_value(const std::string& where, const Parameter& parameter, std::string_view text) {
  if (const auto value = value_of(parameter, text)) return *value;
  const std::string problem = parameter.kind == Parameter::Kind::choice
                                  ? none_of(text, parameter.words)
                                  : "expected " + allowed_values(parameter) + ", got '" + printable(text) +
                                        "'" + suggestion(parameter, text);
  throw Error(ErrorKind::usage, where + ": " + problem);
}

std::string value_text(const Parameter& parameter, std::int64_t value) {
  const bool is_word = value < 0 && value >= -std::ssize(parameter.words);  // of reals, the bits of a NaN
  if (is_word) return std::string(parameter.words[static_cast<std::size_t>(-1 - value)]);
  switch (parameter.kind) {
    case Parameter::Kind::integer:
      return std::to_string(value);
    case Parameter::Kind::image:
      return "an image";
    case Parameter::Kind::decimal:
    case Parameter::Kind::operand:
      return decimal_text(value);
    case Parameter::Kind::choice:
      return std::string(parameter.words[static_cast<std::size_t>(value)]);
    case Parameter::Kind::color:
      return color_text(static_cast<std::uint32_t>(value));
    case Parameter::Kind::real:
      return real_text(value);
  }
  unreachable();
}

bool names_image(const Parameter& parameter, std::string_view text) {
  switch (parameter.kind) {
    case Parameter::Kind::image:
      return !text.empty() && !word_value(parameter, text);
    case Parameter::Kind::operand:
      return !text.empty() && !number_of<double>(text);
    case Parameter::Kind::integer:
    case Parameter::Kind::decimal:
    case Parameter::Kind::choice:
    case Parameter::Kind::color:
    case Parameter::Kind::real:
      return false;
  }
  unreachable();
}

std::string value_text(const Stage& stage, const Parameters& values, std::size_t i) {
  const Parameter& row = stage.parameters[i];
  const bool is_image = row.kind == Parameter::Kind::image || row.kind == Parameter::Kind::operand;
  return is_image && values.image != nullptr ? values.image->name : value_text(row, values[i]);
}

std::string allowed_values(const Parameter& parameter) {
  const std::string values = allowed_without_words(parameter);
  const std::string words = joined(parameter.words);
  return values.empty() || words.empty() ? values + words : values + ", or " + words;
}

}  // namespace imgpipe

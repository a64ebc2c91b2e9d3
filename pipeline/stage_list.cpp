#include "pipeline/stage_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "images/error.h"
#include "images/names.h"
#include "images/text.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

constexpr std::size_t kDecimals = 6;

[[noreturn]] void refuse(const std::string& where, const std::string& problem) {
  throw Error(ErrorKind::usage, where + ": " + problem);
}

// Whether `text` consists of digits only.
bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns the value of digits; std::nullopt for anything else, and above 2^40.
std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  if (!is_number(text)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > (std::int64_t{1} << 40)) return std::nullopt;
  return value;
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

std::optional<std::int64_t> word_value(const Parameter& parameter, std::string_view text) {
  const auto word = std::ranges::find(parameter.words, canonical_spelling(text));
  if (word == parameter.words.end()) return std::nullopt;
  const auto position = static_cast<std::int64_t>(word - parameter.words.begin());
  return parameter.kind == Parameter::Kind::choice ? position : -1 - position;
}

std::int64_t parse_value(const std::string& where, const Parameter& parameter, std::string_view text) {
  std::optional<std::int64_t> value = word_value(parameter, text);
  if (!value && parameter.kind != Parameter::Kind::choice) {
    value = parameter.kind == Parameter::Kind::decimal ? decimal(text) : digits(text);
    if (value && (*value < parameter.least || *value > parameter.most)) value.reset();
  }
  if (value) return *value;
  if (parameter.kind == Parameter::Kind::choice) refuse(where, none_of(text, parameter.words));
  refuse(where, "expected " + allowed_values(parameter) + ", got '" + printable(text) + "'" +
                    did_you_mean(text, parameter.words));
}

std::string number_text(const Parameter& parameter, std::int64_t value) {
  if (parameter.kind == Parameter::Kind::integer) return std::to_string(value);
  std::string text = std::to_string(value / kDecimalOne);
  std::string fraction = std::to_string(kDecimalOne + value % kDecimalOne).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? text : text + "." + fraction;
}

std::string unknown_stage(std::string_view name) {
  if (name == kNoStages) return "none cannot be combined with other steps";
  std::vector<std::string_view> names;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) names.push_back(stage.name);
  }
  const std::string all =
      "must be one of " + joined(names) + "; " + std::string(kNoStages) + " alone converts without a stage";
  if (const Stage* const stage = stage_meant(name))
    return "unknown stage '" + printable(name) + "'; did you mean " + std::string(stage->name) +
           "? imgpipe help stages lists all";
  return unknown_name(name.empty() ? "missing stage name" : "unknown stage '" + printable(name) + "'", name,
                      names, all);
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

// The values of a rectangle: width and height, then optionally x and y.
constexpr std::size_t kSizeValues = 2;
constexpr std::size_t kRectangleValues = 4;
constexpr std::string_view kRectangleForms = "WxH or WxH+X+Y, such as 640x480+10+20";

// Returns the texts of W, H and, if given, X and Y; empty if `text` has neither form.
std::vector<std::string_view> rectangle_parts(std::string_view text) {
  const std::size_t by = text.find('x');
  if (by == std::string_view::npos) return {};
  std::vector<std::string_view> parts = parts_of(text.substr(by + 1), '+');
  parts.insert(parts.begin(), text.substr(0, by));
  const bool whole = parts.size() == kSizeValues || parts.size() == kRectangleValues;
  const bool numbers = std::ranges::all_of(parts, [](std::string_view part) { return is_number(part); });
  return whole && numbers ? parts : std::vector<std::string_view>();
}

// Formats the rectangle of a step: with x and y if both are numbers.
std::string rectangle_text(const Parameters& values) {
  std::string text = std::to_string(values[0]) + "x" + std::to_string(values[1]);
  if (values[2] >= 0 && values[3] >= 0)
    text += "+" + std::to_string(values[2]) + "+" + std::to_string(values[3]);
  return text;
}

class StepText {
 public:
  StepText(std::string_view text, const StagePresets& presets) : parts_(parts_of(text, ':')) {
    const std::string_view name = parts_.front();
    stage_ = find_stage(canonical_spelling(name));
    if (stage_ == nullptr || !stage_->selectable) refuse("--stages", unknown_stage(name));
    where_ = "--stages: " + std::string(stage_->name);
    presets_ = presets.of(*stage_);
  }

  StageRequest read() {
    request_ = {stage_, presets_, ""};
    std::size_t next = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i) next = read_value(parts_[i], next) + 1;
    finish();
    return std::move(request_);
  }

 private:
  // Parses a value for parameter `next`, unless it names another one. Returns the parameter's index.
  std::size_t read_value(std::string_view text, std::size_t next) {
    const std::span<const Parameter> rows = stage_->parameters;
    if (rows.empty()) refuse(where_, "takes no parameters, got '" + printable(text) + "'");
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view name = text.substr(0, equals);
      next = parameter_named(name);
      text.remove_prefix(equals + 1);
    } else if (stage_->takes_rectangle &&
               (text.find_first_of("x+") != std::string_view::npos || (next == 0 && !is_number(text)))) {
      return read_rectangle(text);
    }
    if (next == rows.size())
      refuse(where_, "unexpected value '" + printable(text) + "'; " + its_parameters());
    if (next == 0 && !stage_->takes_rectangle && rectangle_parts(text).size() == kSizeValues &&
        rows.size() > 1) {
      const std::string colons =
          std::string(text.substr(0, text.find('x'))) + ":" + std::string(text.substr(text.find('x') + 1));
      refuse(where_, "'" + printable(text) + "': values are separated by colons; use " +
                         std::string(stage_->name) + ":" + colons);
    }
    take_value(next, text);
    return next;
  }

  [[nodiscard]] std::size_t parameter_named(std::string_view name) const {
    const std::span<const Parameter> rows = stage_->parameters;
    const auto row = std::ranges::find(rows, canonical_spelling(name), &Parameter::name);
    if (row == rows.end()) {
      refuse(where_, unknown_name("unknown parameter '" + printable(name) + "'", name, parameter_names(),
                                  "must be one of " + joined(parameter_names())));
    }
    return static_cast<std::size_t>(row - rows.begin());
  }

  // Parses a rectangle and sets its parameters. Returns the index of the last one.
  std::size_t read_rectangle(std::string_view text) {
    const std::vector<std::string_view> values = rectangle_parts(text);
    if (values.empty())
      refuse(where_, "expected " + std::string(kRectangleForms) + ", got '" + printable(text) + "'");
    for (std::size_t i = 0; i < values.size(); ++i) take_value(i, values[i]);
    return values.size() - 1;
  }

  void take_value(std::size_t i, std::string_view text) {
    const Parameter& row = stage_->parameters[i];
    if (given_[i]) refuse(where_, std::string(row.name) + ": given twice");
    given_[i] = true;
    request_.parameters.values[i] = parse_value(where_ + ": " + std::string(row.name), row, text);
  }

  // Checks the values, completes those that follow from others, and writes request_.said.
  void finish() {
    const std::span<const Parameter> rows = stage_->parameters;
    std::array<std::int64_t, kMaxParameters>& values = request_.parameters.values;
    bool by_position = true;
    bool previous_said = false;
    const std::size_t said_as_one = say_rectangle();
    for (std::size_t i = said_as_one; i < rows.size(); ++i) {
      if (rows[i].required && !given_[i])
        refuse(where_, "missing " + std::string(rows[i].name) + "; expected " + allowed_values(rows[i]));
      if (!given_[i] && rows[i].like_previous && given_[i - 1]) values[i] = values[i - 1];
      const bool follows = rows[i].like_previous && previous_said;
      previous_said = rows[i].required || values[i] != (follows ? values[i - 1] : presets_.values[i]);
      if (!previous_said) {
        by_position = false;
        continue;
      }
      request_.said +=
          ":" + (by_position ? "" : std::string(rows[i].name) + "=") + value_text(rows[i], values[i]);
    }
    if (stage_->problem == nullptr) return;
    const std::string_view problem = stage_->problem(request_.parameters);
    if (!problem.empty())
      refuse(problem.starts_with(stage_->name) ? "--stages" : where_, std::string(problem));
  }

  // Writes the rectangle, if any, to request_.said. Returns how many values it contains.
  std::size_t say_rectangle() {
    if (!stage_->takes_rectangle) return 0;
    if (!given_[0] || !given_[1])
      refuse(where_, "missing rectangle; expected " + std::string(kRectangleForms));
    request_.said += ":" + rectangle_text(request_.parameters);
    return request_.parameters[2] >= 0 && request_.parameters[3] >= 0 ? kRectangleValues : kSizeValues;
  }

  [[nodiscard]] std::vector<std::string_view> parameter_names() const {
    std::vector<std::string_view> names;
    for (const Parameter& row : stage_->parameters) names.push_back(row.name);
    return names;
  }

  [[nodiscard]] std::string its_parameters() const {
    return (stage_->parameters.size() == 1 ? "the only parameter is " : "the parameters are ") +
           joined(parameter_names());
  }

  std::vector<std::string_view> parts_;
  const Stage* stage_ = nullptr;
  std::string where_;
  Parameters presets_;
  StageRequest request_;
  std::array<bool, kMaxParameters> given_{};
};

// Presets the parameter `first` and the following like_previous ones, which may have their own values.
void preset(Parameters& parameters, std::span<const Parameter> rows, std::size_t first,
            const OptionValue& given) {
  const std::string option = "--" + given.option;
  const std::vector<std::string_view> texts = parts_of(given.text, ',');
  std::size_t used = 0;
  for (std::size_t i = first; i < rows.size() && (i == first || rows[i].like_previous); ++i) {
    parameters.values[i] =
        used < texts.size() ? parse_value(option, rows[i], texts[used++]) : parameters.values[i - 1];
  }
  if (used < texts.size())
    refuse(option,
           "expected at most " + std::to_string(used) + " values, got '" + printable(given.text) + "'");
}

}  // namespace

StagePresets::StagePresets(std::span<const OptionValue> options) {
  for (const Stage& stage : stage_table()) {
    OfStage of{&stage, presets(stage.parameters)};
    bool changed = false;
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
      for (const OptionValue& given : options) {
        if (given.option.empty() || given.option != stage.parameters[i].option) continue;
        preset(of.parameters, stage.parameters, i, given);
        changed = true;
      }
    }
    if (changed) changed_.push_back(of);
  }
}

Parameters StagePresets::of(const Stage& stage) const {
  const auto changed = std::ranges::find(changed_, &stage, &OfStage::stage);
  return changed == changed_.end() ? presets(stage.parameters) : changed->parameters;
}

std::vector<std::string_view> steps_in(std::string_view list) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string_view> steps = parts_of(list, ',');
  for (std::string_view& step : steps) {
    step.remove_prefix(std::min(step.find_first_not_of(kBlanks), step.size()));
    step = step.substr(0, step.find_last_not_of(kBlanks) + 1);
  }
  return steps;
}

const Stage* stage_meant(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"autocontrast", "contrast"}, {"autolevel", "contrast"}, {"autolevels", "contrast"},
      {"binarize", "threshold"},    {"blur", "gauss"},         {"flop", "flip"},
      {"gaussian", "gauss"},        {"grayscale", "gray"},     {"histogram", "hist"},
      {"mirror", "flip"},           {"negate", "invert"},      {"negative", "invert"},
      {"normalise", "normalize"},   {"scale", "resize"},       {"thumbnail", "resize"},
      {"unsharp", "sharpen"}};
  const std::string usual = canonical_spelling(name);
  const auto* const other = std::ranges::find(kOthers, usual, [](const auto& row) { return row.first; });
  const Stage* const stage = find_stage(other == std::end(kOthers) ? usual : other->second);
  return stage != nullptr && stage->selectable ? stage : nullptr;
}

std::vector<StageRequest> parse_stages(std::string_view list, const StagePresets& presets) {
  std::vector<StageRequest> requests;
  const std::vector<std::string_view> steps = steps_in(list);
  if (steps.size() == 1 && steps.front() == kNoStages) return requests;
  for (const std::string_view step : steps) {
    StageRequest request = StepText(step, presets).read();
    if (!requests.empty() && requests.back().stage->tensor != nullptr) {
      refuse("--stages", std::string(requests.back().stage->name) + " must be the last step, but " +
                             std::string(request.stage->name) + " follows it");
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

std::string value_text(const Parameter& parameter, std::int64_t value) {
  if (parameter.kind == Parameter::Kind::choice)
    return std::string(parameter.words[static_cast<std::size_t>(value)]);
  if (value < 0) return std::string(parameter.words[static_cast<std::size_t>(-1 - value)]);
  return number_text(parameter, value);
}

std::string allowed_values(const Parameter& parameter) {
  if (parameter.kind == Parameter::Kind::choice) return joined(parameter.words);
  std::string text =
      number_text(parameter, parameter.least) + " to " + number_text(parameter, parameter.most);
  if (parameter.kind == Parameter::Kind::decimal) text += " with at most 6 decimals";
  if (!parameter.words.empty()) text += ", or " + joined(parameter.words);
  return text;
}

}  // namespace imgpipe

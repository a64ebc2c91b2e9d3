#include "pipeline/stage_list.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "images/error.h"
#include "images/names.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"
#include "pipeline/values_text.h"

namespace imgpipe {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& problem) {
  throw Error(ErrorKind::usage, where + ": " + problem);
}

// Whether `text` consists of digits only.
bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
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

// ---- sizes ------------------------------------------------------------------------------------------

bool takes_offsets(const Stage& stage) {
  return rectangle_values(stage) > kSizeValues;
}

std::string expected_size(const Stage& stage) {
  if (takes_offsets(stage)) return "expected WxH or WxH+X+Y, such as 640x480+10+20";
  return requires_size(stage) ? "expected WxH, such as 640x480"
                              : "expected WxH, N% or a width, such as 640x480, 50% or 640";
}

// Returns the texts of W, H and, if given, X and Y; empty if `text` has neither form.
std::vector<std::string_view> rectangle_parts(std::string_view text) {
  const std::size_t by = text.find('x');
  if (by == std::string_view::npos) return {};
  std::vector<std::string_view> parts = parts_of(text.substr(by + 1), '+');
  parts.insert(parts.begin(), text.substr(0, by));
  const bool whole = parts.size() == kSizeValues || parts.size() == 2 * kSizeValues;
  const bool numbers = std::ranges::all_of(parts, is_number);
  return whole && numbers ? parts : std::vector<std::string_view>();
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
    values_ = presets_;
    std::size_t next = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i) next = read_value(parts_[i], next) + 1;
    finish();
    values_.image = image_.get();
    return {stage_, values_, values_text(*stage_, values_, presets_), std::move(image_)};
  }

 private:
  // Parses a value for parameter `next`, unless it names another one. Returns the last parameter that it
  // sets.
  std::size_t read_value(std::string_view text, std::size_t next) {
    const std::span<const Parameter> rows = stage_->parameters;
    if (rows.empty()) refuse(where_, "takes no parameters, got '" + printable(text) + "'");
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
      next = parameter_named(text.substr(0, equals));
      text.remove_prefix(equals + 1);
    } else if (!std::exchange(has_unnamed_, true)) {
      if (const auto last = read_size(text, next)) return *last;
    }
    if (next == rows.size())
      refuse(where_, "unexpected value '" + printable(text) + "'; " + its_parameters());
    return take_values(next, text);
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

  // Parses the first value without a name if it is a size: WxH, WxH+X+Y or N%. Returns the last parameter of
  // the size; std::nullopt for another value.
  std::optional<std::size_t> read_size(std::string_view text, std::size_t next) {
    const auto percent = percent_row(*stage_);
    if (percent && text.ends_with('%')) {
      take_value(*percent, text.substr(0, text.size() - 1));
      return kSizeValues - 1;
    }
    const std::size_t most = rectangle_values(*stage_);
    const std::vector<std::string_view> values = rectangle_parts(text);
    if (values.empty() || most == 0) {
      if (next == 0) refuse_size(text, values);
      return std::nullopt;
    }
    if (values.size() > most) {
      refuse(where_, "'" + printable(text) + "': a size has no offsets; use " +
                         std::string(text.substr(0, text.find('+'))) + ", and crop for a rectangle");
    }
    for (std::size_t i = 0; i < values.size(); ++i) take_value(i, values[i]);
    return values.size() - 1;
  }

  // Refuses a first value that is not a size but should be, or the reverse.
  void refuse_size(std::string_view text, std::span<const std::string_view> values) const {
    if (rectangle_values(*stage_) > 0) {
      if (!is_number(text)) refuse(where_, expected_size(*stage_) + ", got '" + printable(text) + "'");
    } else if (values.size() == kSizeValues && stage_->parameters.size() > 1) {
      refuse(where_, "'" + printable(text) + "': values are separated by colons; use " +
                         std::string(stage_->name) + ":" + std::string(values[0]) + ":" +
                         std::string(values[1]));
    }
  }

  // Parses a value, or a list A/B/C if the parameters after `first` are like_previous. Returns the last
  // parameter that it sets.
  std::size_t take_values(std::size_t first, std::string_view text) {
    const std::size_t most = list_values(*stage_, first);
    if (most == 1) return take_value(first, text);
    const std::vector<std::string_view> values = parts_of(text, '/');
    if (values.size() > most) {
      refuse(where_ + ": " + std::string(stage_->parameters[first].name),
             "expected at most " + std::to_string(most) + " values, got '" + printable(text) + "'");
    }
    for (std::size_t i = 0; i < values.size(); ++i) take_value(first + i, values[i]);
    return first + values.size() - 1;
  }

  std::size_t take_value(std::size_t i, std::string_view text) {
    const Parameter& row = stage_->parameters[i];
    if (given_[i]) refuse(where_, std::string(row.name) + ": given twice");
    given_[i] = true;
    if (names_image(row, text)) {
      image_ = std::make_shared<const SecondImage>(SecondImage{.name = std::string(text)});
      values_.values[i] = kOfImage;
      return i;
    }
    values_.values[i] = parse_value(where_ + ": " + std::string(row.name), row, text);
    return i;
  }

  // Checks the values and completes those that follow from others.
  void finish() {
    const std::span<const Parameter> rows = stage_->parameters;
    if (requires_size(*stage_) && (!given_[0] || !given_[1]))
      refuse(where_,
             (takes_offsets(*stage_) ? "missing rectangle; " : "missing size; ") + expected_size(*stage_));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].required && !given_[i])
        refuse(where_, "missing " + std::string(rows[i].name) + "; expected " + allowed_values(rows[i]));
      if (given_[i] || !rows[i].like_previous || !given_[i - 1]) continue;
      values_.values[i] = values_[i - 1];
      given_[i] = true;
    }
    if (stage_->problem == nullptr) return;
    const std::string_view problem = stage_->problem(values_);
    if (!problem.empty())
      refuse(problem.starts_with(stage_->name) ? "--stages" : where_, std::string(problem));
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
  Parameters values_;
  std::shared_ptr<const SecondImage> image_;
  std::array<bool, kMaxParameters> given_{};
  bool has_unnamed_ = false;  // a value without a name was read
};

// Presets the parameter `first` and the following like_previous ones, which may have their own values.
void preset(Parameters& parameters, const Stage& stage, std::size_t first, const OptionValue& given) {
  const std::string option = "--" + given.option;
  const std::vector<std::string_view> texts = parts_of(given.text, ',');
  const std::size_t most = list_values(stage, first);
  for (std::size_t i = 0; i < most; ++i) {
    parameters.values[first + i] = i < texts.size()
                                       ? parse_value(option, stage.parameters[first + i], texts[i])
                                       : parameters.values[first + i - 1];
  }
  if (most < texts.size())
    refuse(option,
           "expected at most " + std::to_string(most) + " values, got '" + printable(given.text) + "'");
}

}  // namespace

StagePresets::StagePresets(std::span<const OptionValue> options) {
  for (const Stage& stage : stage_table()) {
    OfStage of{&stage, presets(stage.parameters)};
    bool changed = false;
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
      for (const OptionValue& given : options) {
        if (given.option.empty() || given.option != stage.parameters[i].option) continue;
        preset(of.parameters, stage, i, given);
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

std::vector<StageBranch> parse_branches(std::span<const std::string_view> lists) {
  std::vector<StageBranch> branches;
  for (const std::string_view list : lists) {
    std::string name = "list " + std::to_string(branches.size() + 1) + ", '" + printable(list) + "'";
    std::vector<StageRequest> steps = naming(name, [&] { return parse_stages(list); });
    branches.push_back({std::move(name), std::move(steps)});
  }
  return branches;
}

StageRequest request_of(const Stage& stage, const Parameters& parameters) {
  return {&stage, parameters, values_text(stage, parameters, presets(stage.parameters))};
}

}  // namespace imgpipe

#include "pipeline/values_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/stage.h"
#include "pipeline/parameter_text.h"

namespace imgpipe {
namespace {

// Formats the values of a step: those of required parameters, and those that differ from the presets.
class ValuesText {
 public:
  ValuesText(const Stage& stage, const Parameters& values, const Parameters& presets)
      : stage_(stage), values_(values), presets_(presets) {}

  std::string write() {
    for (std::size_t i = write_size(); i < stage_.parameters.size(); ++i) {
      if (percent_ != i) write_value(i);
    }
    return text_;
  }

 private:
  // Formats a size as one value. Returns the number of first parameters that it covers.
  std::size_t write_size() {
    percent_ = percent_row(stage_);
    if (percent_ && values_[*percent_] != presets_[*percent_]) {
      text_ = ":" + text_of(*percent_) + "%";
      return kSizeValues;
    }
    if (!requires_size(stage_)) return 0;
    text_ = ":" + text_of(0) + "x" + text_of(1);
    const std::size_t most = rectangle_values(stage_);
    if (most == kSizeValues || values_[2] < 0 || values_[3] < 0) return kSizeValues;
    text_ += "+" + text_of(2) + "+" + text_of(3);
    return most;
  }

  void write_value(std::size_t i) {
    const Parameter& row = stage_.parameters[i];
    const bool in_list = row.like_previous && list_is_set_;
    const bool is_set = row.required || values_[i] != (in_list ? values_[i - 1] : presets_[i]);
    list_is_set_ = is_set || in_list;
    if (!is_set) {
      by_position_ = false;
    } else if (in_list && !by_position_) {
      while (written_ < i) text_ += "/" + text_of(++written_);
    } else {
      text_ += ":" + (by_position_ ? "" : std::string(row.name) + "=") + text_of(i);
      written_ = i;
    }
  }

  [[nodiscard]] std::string text_of(std::size_t i) const { return value_text(stage_, values_, i); }

  const Stage& stage_;
  const Parameters& values_;
  const Parameters& presets_;
  std::string text_;
  std::optional<std::size_t> percent_;
  bool by_position_ = true;
  bool list_is_set_ = false;  // whether text_ sets an earlier value of the same list
  std::size_t written_ = 0;   // the last value in the text
};

}  // namespace

std::size_t rectangle_values(const Stage& stage) {
  static constexpr std::array<std::string_view, 4> kNames{"width", "height", "x", "y"};
  const auto differing = std::ranges::mismatch(stage.parameters, kNames, {}, &Parameter::name);
  return static_cast<std::size_t>(differing.in2 - kNames.begin()) / kSizeValues * kSizeValues;
}

bool requires_size(const Stage& stage) {
  return rectangle_values(stage) > 0 && stage.parameters.front().required;
}

std::optional<std::size_t> percent_row(const Stage& stage) {
  const auto row = std::ranges::find(stage.parameters, "percent", &Parameter::name);
  if (row == stage.parameters.end()) return std::nullopt;
  return static_cast<std::size_t>(row - stage.parameters.begin());
}

std::size_t list_values(const Stage& stage, std::size_t first) {
  const auto rest = stage.parameters.subspan(first + 1);
  return 1 +
         static_cast<std::size_t>(std::ranges::find(rest, false, &Parameter::like_previous) - rest.begin());
}

std::string values_text(const Stage& stage, const Parameters& values, const Parameters& presets) {
  return ValuesText(stage, values, presets).write();
}

}  // namespace imgpipe

// The grammar of --stages:
//
//   list        step , step , ...   or  none, which is no step; blanks around a step do not matter
//   step        NAME, then for each parameter that is given  :VALUE  or  :PARAMETER=VALUE
//
// A value without a name is that of the first parameter, or of the one behind the last that was given:
// smooth:gauss:reflect is smooth:window=gauss:border=reflect. A stage that takes a rectangle
// (Stage::takes_rectangle) has a VALUE of its own for it, WxH or WxH+X+Y: crop:64x48+10+20 is
// crop:width=64:height=48:x=10:y=20.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/parameter_values.h"

namespace imgpipe {

struct Parameter;
struct Stage;

// What runs where --stages is not given.
inline constexpr std::string_view kDefaultStages = "gray,hist,contrast,smooth";
// The step that the planner inserts where a file holds 8 bits per sample and the image has more.
inline constexpr std::string_view kReducingStep = "depth:8";
// The list without steps: images are only decoded and encoded.
inline constexpr std::string_view kNoStages = "none";

// An option of the command line that presets a parameter: {"clip", "0.5,2"}. What stands behind a comma
// presets the parameter behind it, if that one is Parameter::like_previous.
struct OptionValue {
  std::string option;
  std::string text;
};

// What a step of --stages does where it does not say otherwise.
class StagePresets {
 public:
  // The stages' own.
  StagePresets() = default;
  // Throws Error(usage) for a text that the parameter does not take. Options that preset no parameter are
  // passed over.
  explicit StagePresets(std::span<const OptionValue> options);

  [[nodiscard]] Parameters of(const Stage& stage) const;

 private:
  struct OfStage {
    const Stage* stage = nullptr;
    Parameters parameters{};
  };
  std::vector<OfStage> changed_;
};

// A step as it was asked for.
struct StageRequest {
  const Stage* stage = nullptr;
  Parameters parameters;
  std::string said;  // what was not preset, as the list has it: ":gauss"; empty: nothing
};

// The texts of the steps, without the blanks around them.
[[nodiscard]] std::vector<std::string_view> steps_in(std::string_view list);

// The steps in the order given; repeats are allowed. `none` has no steps. Throws Error(usage) that names what
// is allowed, for an empty list or name, an unknown stage or parameter, a value that is missing or not
// allowed.
[[nodiscard]] std::vector<StageRequest> parse_stages(std::string_view list, const StagePresets& presets = {});

// The stage that a name means: its own, or the one that other programs give to it ("blur" is gauss); nullptr:
// none.
[[nodiscard]] const Stage* stage_meant(std::string_view name);

// A value as the list takes it: "gauss", "0.5".
[[nodiscard]] std::string value_text(const Parameter& parameter, std::int64_t value);
// What a parameter takes, for people: "box, triangle, gauss", "0 to 255, or otsu".
[[nodiscard]] std::string allowed_values(const Parameter& parameter);

}  // namespace imgpipe

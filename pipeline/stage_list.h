// The grammar of --stages:
//
//   list        step , step , ...   or  none, a list without steps; blanks around a step are ignored
//   step        NAME, then per parameter  :VALUE  or  :PARAMETER=VALUE
//
// A value without a name sets the first parameter, or the one after the last that was set:
// smooth:gauss:reflect means smooth:window=gauss:border=reflect. The first of these values may set several
// parameters or another one, depending on the names of the stage's parameters:
//
//   WxH         width and height, which are the first two parameters
//   WxH+X+Y     also x and y, which are the next two: crop:64x48+10+20
//   N%          percent: resize:50%:area
//
// A VALUE of an image is the name of a file, or of an image given by --image. It contains no comma and no
// colon. For a parameter that is a number or an image, numbers are numbers.
//
// A VALUE A/B/C also sets the next parameters, which must be Parameter::like_previous.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/parameter_values.h"
#include "kernels/second_image.h"

namespace imgpipe {

struct Stage;

// Runs if --stages is not given.
inline constexpr std::string_view kDefaultStages = "gray,hist,contrast,smooth";
// The step that the planner inserts if the image has more bits per sample than the output file holds.
inline constexpr std::string_view kReducingStep = "depth:8";
// The list without steps: images are only decoded and encoded.
inline constexpr std::string_view kNoStages = "none";

// A command line option that presets a parameter: {"clip", "0.5,2"}. A value after a comma presets the next
// parameter, which must be Parameter::like_previous.
struct OptionValue {
  std::string option;
  std::string text;
};

// The values of parameters that a step of --stages does not set.
class StagePresets {
 public:
  // The defaults of the stages.
  StagePresets() = default;
  // Throws Error(usage) for a text that the parameter does not accept. Ignores options that preset no
  // parameter.
  explicit StagePresets(std::span<const OptionValue> options);

  [[nodiscard]] Parameters of(const Stage& stage) const;

 private:
  struct OfStage {
    const Stage* stage = nullptr;
    Parameters parameters{};
  };
  std::vector<OfStage> changed_;
};

// A step of the list.
struct StageRequest {
  const Stage* stage = nullptr;
  Parameters parameters;
  std::string said;  // the values that differ from the presets, in the list's syntax: ":gauss"
  // The second image; nullptr: none. load_second_images() (pipeline/second_images.h) replaces those that
  // parse_stages() makes, which have only a name. `parameters.image` points to it.
  std::shared_ptr<const SecondImage> image{};
};

// One of several lists of steps that all begin with the same image.
struct StageBranch {
  std::string name;  // for messages: "list 2"; empty: none
  std::vector<StageRequest> steps;
};

// Returns the texts of the steps, without the blanks around them.
[[nodiscard]] std::vector<std::string_view> steps_in(std::string_view list);

// Returns the steps in the order given; repeats are allowed. Throws Error(usage), which names the allowed
// values, for an empty list or name, an unknown stage or parameter, and a missing or invalid value.
[[nodiscard]] std::vector<StageRequest> parse_stages(std::string_view list, const StagePresets& presets = {});

// Returns the steps of each list, named "list 2, 'gray'". Throws as parse_stages() does; the message names
// the list.
[[nodiscard]] std::vector<StageBranch> parse_branches(std::span<const std::string_view> lists);

// Returns the stage for a name, or for another program's name for it ("blur" for gauss); nullptr if unknown.
[[nodiscard]] const Stage* stage_meant(std::string_view name);

// Returns a step with these values.
[[nodiscard]] StageRequest request_of(const Stage& stage, const Parameters& parameters);

}  // namespace imgpipe

#include "app/process_options/band_options.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/options/option_parser.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

// Stages that read or make several channels of a pixel.
constexpr std::array<std::string_view, 10> kMixing{"gray",         "rgb",      "flatten", "channel",
                                                   "append",       "colormap", "icc",     "saturation",
                                                   "whitebalance", "normalize"};

// Returns why bands cannot be processed one at a time by a step; empty: they can.
std::string refusal(const std::string& stage) {
  if (stage == "trim") return "trim would cut each band differently; use crop";
  if (std::ranges::find(kMixing, stage) == kMixing.end()) return "";
  return stage + " needs the channels of a colour image, but each band is a grey image; leave it out";
}

void check_steps(std::string option, const std::vector<StageRequest>& steps) {
  for (const StageRequest& step : steps) {
    if (const std::string why = refusal(std::string(step.stage->name)); !why.empty())
      usage("--bands all: " + option.append(": ").append(why));
  }
}

}  // namespace

void read_all_bands(const Parser& parser, ProcessOptions& options) {
  if (!options.decode.bands_of_page) return;
  constexpr std::pair<const char*, const char*> kRefused[] = {
      {"stack", "choose one band with --bands N"}, {"montage", "choose one band with --bands N"},
      {"split", "choose one band with --bands N"}, {"merge", "choose one band with --bands N"},
      {"tensor", "the output is a TIFF"},          {"keep-stages", "choose one band with --bands N"}};
  for (const auto& [option, why] : kRefused) {
    if (parser.has(option))
      usage("--bands all: cannot be combined with --" + std::string(option) + "; " + why);
  }
  for (const std::string& path : parser.texts("report")) {
    if (path.ends_with(".html"))
      usage("--bands all: cannot be combined with --report FILE.html; use .json or .csv");
  }
  if (parser.has("name") && NameTemplate(parser.text("name")).has(kPageField))
    usage("--bands all: cannot be combined with {page} in --name; one file stores all bands");
  if (options.pages && !options.pages->alone)
    usage("--bands all: needs a single page; choose it with --pages N");
  check_steps("--stages", options.stages.steps);
  for (const AlsoStages& also : options.stages.also) check_steps("--also " + also.name, also.steps);
  if (options.pages) options.decode.bands_of_page = options.pages->first - 1;
  options.pages = PageSelection();
}

}  // namespace imgpipe

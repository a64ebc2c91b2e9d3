#include "pipeline/plan.h"

#include <algorithm>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

const Stage& stage_named(std::string_view name) {
  return *find_stage(name);
}

std::string selectable_names(std::string_view separator) {
  std::string names;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) names += (names.empty() ? "" : std::string(separator)) + std::string(stage.name);
  }
  return names;
}

class PlanBuilder {
 public:
  PlanBuilder(const Shape& input, const StageOptions& options) {
    plan_.input = input;
    plan_.options = options;
    frame_ = frame_type_of(input);
  }

  void add_selected(const Stage& stage) {
    if (stage.grey_only && frame_.color_channels == 1) {
      plan_.notes.push_back(std::string(stage.name) + " left out: the image is grey already");
      return;
    }
    change_layout(stage.in);
    const bool counted = !plan_.steps.empty() && writes_histogram(plan_.steps.back().stage->writes);
    if (stage.reads_histogram && !counted) add(stage_named("hist"), true);
    add(stage, false);
  }

  Plan finish() {
    change_layout(Layout::interleaved);
    plan_.output = {frame_.width, frame_.height, frame_.channels()};
    return std::move(plan_);
  }

 private:
  // Grey without alpha is the same bytes in both layouts.
  void change_layout(Layout wanted) {
    if (frame_.layout == wanted || frame_.channels() == 1) return;
    add(stage_named(wanted == Layout::planar ? "split" : "merge"), true);
  }

  void add(const Stage& stage, bool implicit) {
    const auto earlier = std::ranges::count(plan_.steps, &stage, &Step::stage);
    std::string label(stage.name);
    if (earlier > 0) label += "#" + std::to_string(earlier + 1);
    if (implicit) label += "*";
    const FrameType out = writes_pixels(stage.writes) ? output_type(stage, frame_) : frame_;
    plan_.steps.push_back({&stage, implicit, label, frame_, out, {}});
    frame_ = out;
  }

  Plan plan_;
  FrameType frame_;
};

// The stage that does the work of both, nullptr when there is none.
const Stage* fused_stage(const Stage& first, const Stage& second) {
  for (const Stage& stage : stage_table()) {
    if (stage.fuses[0] == first.name && stage.fuses[1] == second.name) return &stage;
  }
  return nullptr;
}

void fuse_steps(Plan& plan) {
  std::vector<Step> fused;
  for (Step& step : plan.steps) {
    const Stage* both = fused.empty() || !fused.back().parts.empty()
                            ? nullptr
                            : fused_stage(*fused.back().stage, *step.stage);
    if (both == nullptr) {
      fused.push_back(std::move(step));
      continue;
    }
    Step first = std::move(fused.back());
    Step merged{both, false, first.label + "+" + step.label, first.in, step.out, {}};
    merged.parts = {std::move(first), std::move(step)};
    fused.back() = std::move(merged);
  }
  plan.steps = std::move(fused);
}

}  // namespace

std::vector<const Stage*> parse_stages(std::string_view list) {
  std::vector<const Stage*> stages;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    const Stage* stage = find_stage(name);
    if (stage == nullptr || !stage->selectable) {
      const std::string problem =
          name.empty() ? "a stage name is missing" : "unknown stage '" + printable(name) + "'";
      throw Error(ErrorKind::usage, "--stages: " + problem + "; the stages are " + selectable_names(", "));
    }
    stages.push_back(stage);
    if (comma == std::string_view::npos) return stages;
    list.remove_prefix(comma + 1);
  }
}

std::string default_stages() {
  return selectable_names(",");
}

Plan make_plan(std::span<const Stage* const> stages, const Shape& input, const StageOptions& options,
               bool fuse) {
  PlanBuilder builder(input, options);
  for (const Stage* stage : stages) builder.add_selected(*stage);
  Plan plan = builder.finish();
  if (fuse) fuse_steps(plan);
  return plan;
}

Shape planned_output(std::span<const Stage* const> stages, const Shape& input) {
  return make_plan(stages, input, {}).output;
}

}  // namespace imgpipe

#include "tests/support/old_planner.h"

#include <algorithm>
#include <array>
#include <utility>

#include "images/error.h"
#include "kernels/clahe/clahe.h"
#include "kernels/contrast/contrast.h"
#include "kernels/crop/crop.h"
#include "kernels/depth/depth.h"
#include "kernels/equalize/equalize.h"
#include "kernels/gamma/gamma.h"
#include "kernels/gray/gray.h"
#include "kernels/levels/levels.h"
#include "kernels/resize/resize.h"
#include "kernels/rotate/rotate.h"
#include "kernels/sharpen/sharpen.h"
#include "kernels/stage.h"
#include "kernels/threshold/threshold.h"

namespace imgpipe::test::old_planner {
namespace {

// ---- the table ------------------------------------------------------------------------------------------

// Types of frames, which stages read counts, and why a step did not fit.

bool always(const Parameters&) {
  return true;
}

bool threshold_reads_histogram(const Parameters& parameters) {
  return ThresholdParameters(parameters).at == kOtsu;
}

FrameType gray_output(const FrameType& in, const Parameters&) {
  FrameType out = in;
  out.color_channels = 1;
  return out;
}

FrameType contrast_output(const FrameType& in, const Parameters& parameters) {
  const StretchTo to = ContrastParameters(parameters).to;
  FrameType out = in;
  if (to != StretchTo::same) out.sample = to == StretchTo::u16 ? Sample::u16 : Sample::u8;
  return out;
}

std::string_view threshold_misfit(const FrameType& in, const Parameters& parameters) {
  const bool fits = ThresholdParameters(parameters).at <= max_sample(in.sample);
  return fits ? "" : "its samples have 8 bits; use 0 to 255, or depth:16 before it";
}

FrameType depth_output(const FrameType& in, const Parameters& parameters) {
  FrameType out = in;
  out.sample = depth_wanted(parameters);
  return out;
}

std::string_view crop_misfit(const FrameType& in, const Parameters& parameters) {
  const CropParameters wanted(parameters);
  const auto fits = [](std::int64_t offset, std::int64_t size, std::int64_t of) {
    return size <= of && crop_offset(offset, size, of) <= of - size;
  };
  const bool inside = fits(wanted.x, wanted.width, in.width) && fits(wanted.y, wanted.height, in.height);
  return inside ? "" : "outside the image";
}

FrameType crop_output(const FrameType& in, const Parameters& parameters) {
  const CropParameters wanted(parameters);
  FrameType out = in;
  out.width = wanted.width;
  out.height = wanted.height;
  return out;
}

FrameType rotate_output(const FrameType& in, const Parameters& parameters) {
  FrameType out = in;
  if (RotateParameters(parameters).angle != RotateAngle::by_180) std::swap(out.width, out.height);
  return out;
}

std::string_view clahe_misfit(const FrameType& in, const Parameters& parameters) {
  return ClaheTiles(in, parameters).pixels() <= INT32_MAX
             ? ""
             : "a tile exceeds 2147483647 pixels; use more tiles";
}

struct OldStage {
  std::string_view name;
  bool writes_pixels = true, counts = false, color_only = true;
  Layout in = Layout::planar, out = Layout::planar;
  bool any_layout = false;
  bool (*reads_histogram)(const Parameters&) = nullptr;
  std::string_view (*needless)(const FrameType& in, const Parameters&) = nullptr;
  std::string_view (*misfit)(const FrameType& in, const Parameters&) = nullptr;
  FrameType (*output)(const FrameType& in, const Parameters&) = nullptr;
};

constexpr Layout kMixed = Layout::interleaved;
constexpr std::array kStages{
    OldStage{.name = "gray",
             .color_only = false,
             .in = kMixed,
             .needless = gray_skip_reason,
             .output = gray_output},
    OldStage{.name = "hist", .writes_pixels = false, .counts = true},
    OldStage{.name = "contrast", .reads_histogram = always, .output = contrast_output},
    OldStage{.name = "smooth"},
    OldStage{.name = "threshold", .reads_histogram = threshold_reads_histogram, .misfit = threshold_misfit},
    OldStage{.name = "invert"},
    OldStage{.name = "gamma", .needless = gamma_skip_reason},
    OldStage{.name = "levels", .needless = levels_skip_reason},
    OldStage{.name = "resize", .color_only = false, .needless = resize_skip_reason, .output = resize_output},
    OldStage{.name = "depth",
             .color_only = false,
             .any_layout = true,
             .needless = depth_skip_reason,
             .output = depth_output},
    OldStage{.name = "crop",
             .color_only = false,
             .any_layout = true,
             .needless = crop_skip_reason,
             .misfit = crop_misfit,
             .output = crop_output},
    OldStage{.name = "flip", .color_only = false, .any_layout = true},
    OldStage{.name = "rotate", .color_only = false, .any_layout = true, .output = rotate_output},
    OldStage{.name = "equalize", .reads_histogram = always},
    OldStage{.name = "clahe", .misfit = clahe_misfit},
    OldStage{.name = "median"},
    OldStage{.name = "sobel"},
    OldStage{.name = "box"},
    OldStage{.name = "gauss"},
    OldStage{.name = "sharpen", .needless = sharpen_skip_reason},
    OldStage{.name = "split", .color_only = false, .in = kMixed},
    OldStage{.name = "merge", .color_only = false, .out = kMixed},
    OldStage{.name = "gray+hist", .counts = true, .color_only = false, .in = kMixed, .output = gray_output},
    OldStage{.name = "contrast+smooth", .reads_histogram = always},
};

const OldStage& stage_named(std::string_view name) {
  return *std::ranges::find(kStages, name, &OldStage::name);
}

bool reads_histogram(const OldStage& stage, const Parameters& parameters) {
  return stage.reads_histogram != nullptr && stage.reads_histogram(parameters);
}

FrameType output_type(const OldStage& stage, const FrameType& in, const Parameters& parameters) {
  if (!stage.writes_pixels) return in;
  FrameType out = stage.output == nullptr ? in : stage.output(in, parameters);
  out.layout = stage.any_layout ? in.layout : stage.out;
  return out;
}

// ---- the planner ----------------------------------------------------------------------------------------

struct OldStep {
  const OldStage* stage = nullptr;
  Parameters parameters;
  bool implicit = false;
  std::string label{};
  FrameType in{};
  FrameType out{};
  std::optional<std::size_t> counted_by{};
  std::vector<OldStep> parts{};
};

struct OldPlan {
  Shape input;
  Shape output;
  std::vector<OldStep> steps{};
  std::vector<std::string> notes{};
  bool reduced = false;
};

std::string size_text(const FrameType& type) {
  return std::to_string(type.width) + "x" + std::to_string(type.height);
}

void check_size(const std::string& label, const FrameType& out, std::int64_t most_pixels) {
  const std::string makes = label + " makes " + size_text(out) + " pixels";
  if (out.width < 1 || out.height < 1 || out.width > kMostSide || out.height > kMostSide)
    throw Error(ErrorKind::usage, makes + "; a side has 1 to " + std::to_string(kMostSide));
  if (out.pixels() > most_pixels)
    throw Error(ErrorKind::input, makes + ", more than --max-pixels " + std::to_string(most_pixels));
}

class OldPlanBuilder {
 public:
  OldPlanBuilder(const Shape& input, std::int64_t most_pixels)
      : frame_(frame_type_of(input)), most_pixels_(most_pixels) {
    plan_.input = input;
  }

  void add_selected(const StageRequest& request) {
    const OldStage& stage = stage_named(request.stage->name);
    const std::string_view why = stage.needless == nullptr ? "" : stage.needless(frame_, request.parameters);
    if (!why.empty()) {
      plan_.notes.push_back(std::string(stage.name) + request.said + " left out: " + std::string(why));
      return;
    }
    const std::string_view misfit = stage.misfit == nullptr ? "" : stage.misfit(frame_, request.parameters);
    if (!misfit.empty())
      throw Error(ErrorKind::usage, std::string(stage.name) + request.said + " of " + size_text(frame_) +
                                        " pixels: " + std::string(misfit));
    if (!stage.any_layout) change_layout(stage.in);
    if (reads_histogram(stage, request.parameters) && !counted_by_) add_implicit("hist");
    add({.stage = &stage, .parameters = request.parameters}, request.said);
  }

  OldPlan finish(int most_bits) {
    if (8 * bytes_per_sample(frame_.sample) > most_bits) reduce();
    change_layout(Layout::interleaved);
    plan_.output = shape_of(frame_);
    return std::move(plan_);
  }

 private:
  // Grey without alpha has the same bytes in both layouts.
  void change_layout(Layout wanted) {
    if (frame_.layout == wanted || frame_.channels() == 1) return;
    add_implicit(wanted == Layout::planar ? "split" : "merge");
  }

  // Converts to 8 bits per sample.
  void reduce() {
    const StageRequest depth = std::move(parse_stages("depth:8").front());
    add({.stage = &stage_named("depth"), .parameters = depth.parameters, .implicit = true}, depth.said);
    plan_.reduced = true;
  }

  void add_implicit(std::string_view name) {
    const OldStage& stage = stage_named(name);
    add({.stage = &stage, .parameters = {}, .implicit = true}, "");
  }

  void add(OldStep step, const std::string& said) {
    const OldStage& stage = *step.stage;
    const auto earlier = std::ranges::count(plan_.steps, &stage, &OldStep::stage);
    step.label = std::string(stage.name);
    if (earlier > 0) step.label += "#" + std::to_string(earlier + 1);
    step.label += said;
    if (step.implicit) step.label += "*";
    step.in = frame_;
    step.out = output_type(stage, frame_, step.parameters);
    if (stage.writes_pixels) check_size(step.label, step.out, most_pixels_);
    if (reads_histogram(stage, step.parameters)) step.counted_by = counted_by_;
    if (stage.writes_pixels) counted_by_.reset();
    if (stage.counts) counted_by_ = plan_.steps.size();
    frame_ = step.out;
    plan_.steps.push_back(std::move(step));
  }

  OldPlan plan_;
  FrameType frame_;
  const std::int64_t most_pixels_;
  std::optional<std::size_t> counted_by_;  // the step that counted frame_
};

// Returns the stage that does the work of both, for 8 bits only; nullptr if there is none.
const OldStage* fused_stage(const OldStep& first, const OldStep& second) {
  const auto is_flat = [](const FrameType& type) { return type.sample == Sample::u8; };
  if (!is_flat(first.in) || !is_flat(first.out) || !is_flat(second.out)) return nullptr;
  const auto name = std::string(first.stage->name) + "+" + std::string(second.stage->name);
  const auto* const stage = std::ranges::find(kStages, name, &OldStage::name);
  return stage == kStages.end() ? nullptr : stage;
}

void fuse_steps(OldPlan& plan) {
  std::vector<OldStep> fused;
  std::vector<std::size_t> now_at;  // index by former step
  for (OldStep& step : plan.steps) {
    if (step.counted_by) step.counted_by = now_at[*step.counted_by];
    const OldStage* both =
        fused.empty() || !fused.back().parts.empty() ? nullptr : fused_stage(fused.back(), step);
    if (both == nullptr) {
      fused.push_back(std::move(step));
    } else {
      OldStep first = std::move(fused.back());
      OldStep merged{.stage = both,
                     .parameters = first.parameters,
                     .label = first.label + "+" + step.label,
                     .in = first.in,
                     .out = step.out,
                     .counted_by = first.counted_by};
      merged.parts.push_back(std::move(first));
      merged.parts.push_back(std::move(step));
      fused.back() = std::move(merged);
    }
    now_at.push_back(fused.size() - 1);
  }
  plan.steps = std::move(fused);
}

// ---- the values -----------------------------------------------------------------------------------------

struct OldWork {
  const OldStep* step = nullptr;
  std::size_t index = 0;
};

class OldAnalysis {
 public:
  OldAnalysis(const OldPlan& plan, const std::vector<OldWork>& works, const Keep& keep)
      : plan_(plan), end_(works.size() + 1), counted_by_(plan.steps.size()) {
    pixels_ = add("pixels", frame_type_of(plan.input), 0);
    for (std::size_t i = 0; i < works.size(); ++i) add_work(works[i], i + 1);
    result_.result = pixels_;
    read(pixels_, end_);
    for (std::size_t i = 0; i < result_.values.size(); ++i) {
      if (keep.outputs ? i > 0 || keep.source : i == 0 && keep.source) read(i, end_);
      if (result_.values[i].kind == "counts") read(i, end_);
    }
  }

  ValueRows result() { return std::move(result_); }

 private:
  std::size_t add(std::string_view kind, const FrameType& type, std::size_t time) {
    int planes = 0;
    auto bytes = static_cast<std::int64_t>(counters(type) * sizeof(std::uint64_t));
    if (kind != "counts") {
      planes = kind == "alpha" || type.layout == kMixed ? 1 : type.color_channels;
      bytes = kind == "pixels" && type.layout == kMixed ? type.bytes() : planes * type.plane_bytes();
    }
    result_.values.push_back({kind, type, planes, bytes, time, time});
    return result_.values.size() - 1;
  }

  void read(std::size_t buffer, std::size_t time) {
    result_.values[buffer].last_read_at = std::max(result_.values[buffer].last_read_at, time);
  }

  void add_work(const OldWork& work, std::size_t time) {
    const OldStep& step = *work.step;
    const OldStage& stage = *step.stage;
    NodeRow uses{.label = plan_.steps[work.index].label, .stage = stage.name};
    uses.pixels_in = pixels_;
    read(pixels_, time);
    const bool moves_alpha = !(stage.color_only && step.in.sample == step.out.sample);
    if (moves_alpha && alpha_ && step.in.layout == Layout::planar) {
      uses.alpha_in = alpha_;
      read(*alpha_, time);
    }
    if (step.counted_by) {
      uses.counts_in = counted_by_[*step.counted_by];
      read(*uses.counts_in, time);
    }
    if (stage.writes_pixels) {
      uses.pixels_out = pixels_ = add("pixels", step.out, time);
      if (moves_alpha) {
        alpha_.reset();
        if (step.out.alpha && step.out.layout == Layout::planar)
          uses.alpha_out = alpha_ = add("alpha", step.out, time);
      }
    }
    if (stage.counts) uses.counts_out = counted_by_[work.index] = add("counts", step.out, time);
    uses.pixels_after = pixels_;
    uses.alpha_after = alpha_;
    result_.nodes.push_back(uses);
  }

  const OldPlan& plan_;
  ValueRows result_;
  const std::size_t end_;
  std::size_t pixels_ = 0;
  std::optional<std::size_t> alpha_;     // in its own plane
  std::vector<std::size_t> counted_by_;  // by step of the plan: its counts
};

std::vector<OldWork> works_of(const OldPlan& plan, FusedSteps fused) {
  std::vector<OldWork> works;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const OldStep& step = plan.steps[i];
    if (step.parts.empty() || fused == FusedSteps::as_one) works.push_back({&step, i});
    if (fused == FusedSteps::as_one) continue;
    for (const OldStep& part : step.parts) works.push_back({&part, i});
  }
  return works;
}

std::vector<std::vector<std::size_t>> places_of(const std::vector<ValueRow>& values) {
  std::vector<std::vector<std::size_t>> places;
  std::vector<std::size_t> free_after;  // by slot: when its last buffer was last read
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ValueRow& value = values[i];
    if (i == 0 || value.kind == "counts") continue;
    // A step must not write what it reads.
    std::size_t place = 0;
    while (place < free_after.size() && free_after[place] >= value.made_at) ++place;
    if (place == free_after.size()) {
      free_after.push_back(0);
      places.emplace_back();
    }
    free_after[place] = value.last_read_at;
    places[place].push_back(i);
  }
  return places;
}

// ---- rows -----------------------------------------------------------------------------------------------

ValueRows rows_of(const OldPlan& plan, FusedSteps fused, const Keep& keep) {
  ValueRows rows = OldAnalysis(plan, works_of(plan, fused), keep).result();
  rows.places = places_of(rows.values);
  return rows;
}

OldPlan make_plan(const PlanRequest& request) {
  OldPlanBuilder builder(request.input, request.most_pixels);
  for (const StageRequest& stage : parse_stages(request.list)) builder.add_selected(stage);
  OldPlan plan = builder.finish(request.most_bits);
  if (request.fuse) fuse_steps(plan);
  return plan;
}

}  // namespace
}  // namespace imgpipe::test::old_planner

namespace imgpipe::test {

std::string old_planner_text(const PlanRequest& request) {
  try {
    const auto plan = old_planner::make_plan(request);
    return text_of(rows_of_steps(plan)) +
           text_of(old_planner::rows_of(plan, FusedSteps::as_one, request.keep)) +
           text_of(old_planner::rows_of(plan, FusedSteps::as_parts, request.keep));
  } catch (const Error& error) {
    return "error " + std::to_string(static_cast<int>(error.kind())) + ": " + error.what();
  }
}

}  // namespace imgpipe::test

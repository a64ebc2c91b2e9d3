#include "tests/support/plan_text.h"

#include "images/error.h"
#include "kernels/stage.h"

namespace imgpipe::test {
namespace {

std::string text_of(const FrameType& type) {
  return std::to_string(type.width) + "x" + std::to_string(type.height) + " " +
         std::to_string(type.color_channels) + (type.alpha ? "+alpha" : "") +
         (type.layout == Layout::planar ? " planar u" : " interleaved u") +
         std::to_string(8 * bytes_per_sample(type.sample));
}

std::string text_of(const std::optional<std::size_t>& number) {
  return number ? std::to_string(*number) : "-";
}

StepRow row_of(const Step& step) {
  return {step.label, step.stage->name, step.implicit, step.in, step.out, step.counted_by};
}

PlanRows rows_of(const Plan& plan) {
  PlanRows rows{{}, plan.notes, frame_type_of(plan.input), frame_type_of(plan.output), plan.reduced};
  for (const Step& step : plan.steps) {
    rows.steps.push_back(row_of(step));
    for (const Step& part : step.parts) rows.steps.push_back(row_of(part));
  }
  return rows;
}

ValueRows rows_of(const Plan& plan, FusedSteps fused, const Keep& keep) {
  const std::vector<Work> works = works_of(plan, fused);
  const Buffers buffers = buffers_of(plan, works, keep);
  ValueRows rows{.nodes = {}, .values = {}, .result = buffers.result, .places = places_of(buffers)};
  for (std::size_t i = 0; i < works.size(); ++i) {
    const WorkBuffers& uses = buffers.works[i];
    rows.nodes.push_back({plan.steps[works[i].index].label, works[i].step->stage->name, uses.pixels_in,
                          uses.alpha_in, uses.counts_in, uses.pixels_out, uses.alpha_out, uses.counts_out,
                          uses.pixels, uses.alpha});
  }
  for (const Buffer& buffer : buffers.buffers) {
    rows.values.push_back({buffer.holds == Buffer::Holds::pixels  ? "pixels"
                           : buffer.holds == Buffer::Holds::alpha ? "alpha"
                                                                  : "counts",
                           buffer.type, buffer.planes(), buffer.bytes(), buffer.made_at,
                           buffer.last_read_at});
  }
  return rows;
}

}  // namespace

std::string text_of(const PlanRows& plan) {
  std::string text = text_of(plan.input) + " to " + text_of(plan.output);
  text += plan.reduced ? ", reduced\n" : "\n";
  for (const StepRow& step : plan.steps) {
    text += std::string(step.label) + " " + std::string(step.stage) + (step.implicit ? " implicit " : " ") +
            text_of(step.in) + " to " + text_of(step.out) + ", counts of " + text_of(step.counted_by) + "\n";
  }
  for (const std::string& note : plan.notes) text += note + "\n";
  return text;
}

std::string text_of(const ValueRows& rows) {
  std::string text;
  for (const NodeRow& node : rows.nodes) {
    text += std::string(node.label) + " " + std::string(node.stage) + ": pixels " +
            std::to_string(node.pixels_in) + " to " + text_of(node.pixels_out) + ", alpha " +
            text_of(node.alpha_in) + " to " + text_of(node.alpha_out) + ", counts " +
            text_of(node.counts_in) + " to " + text_of(node.counts_out) + "; then " +
            std::to_string(node.pixels_after) + " " + text_of(node.alpha_after) + "\n";
  }
  for (const ValueRow& value : rows.values) {
    text += std::string(value.kind) + " " + text_of(value.type) + " planes " + std::to_string(value.planes) +
            " bytes " + std::to_string(value.bytes) + " lives " + std::to_string(value.made_at) + " to " +
            std::to_string(value.last_read_at) + "\n";
  }
  text += "result " + std::to_string(rows.result) + ", places";
  for (const std::vector<std::size_t>& place : rows.places) {
    text += " of";
    for (const std::size_t value : place) text += " " + std::to_string(value);
  }
  return text + "\n";
}

std::string planner_text(const PlanRequest& request) {
  try {
    const Plan plan = make_plan(parse_stages(request.list), request.input, request.fuse, request.most_pixels,
                                request.most_bits);
    return text_of(rows_of(plan)) + text_of(rows_of(plan, FusedSteps::as_one, request.keep)) +
           text_of(rows_of(plan, FusedSteps::as_parts, request.keep));
  } catch (const Error& error) {
    return "error " + std::to_string(static_cast<int>(error.kind())) + ": " + error.what();
  }
}

}  // namespace imgpipe::test
